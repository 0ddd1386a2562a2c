--
-- PostgreSQL database dump
--


-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: provost; Type: SCHEMA; Schema: -; Owner: -
--

CREATE SCHEMA provost;


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: admin; Type: TABLE; Schema: provost; Owner: -
--

CREATE TABLE provost.admin (
    name text NOT NULL COLLATE pg_catalog."C",
    role text NOT NULL,
    token bytea NOT NULL,
    created bigint NOT NULL,
    until bigint NOT NULL
);


--
-- Name: audit; Type: TABLE; Schema: provost; Owner: -
--

CREATE TABLE provost.audit (
    id bigint NOT NULL,
    at bigint NOT NULL,
    who text NOT NULL,
    source text NOT NULL,
    action text NOT NULL,
    request text NOT NULL,
    result text
);


--
-- Name: audit_id_seq; Type: SEQUENCE; Schema: provost; Owner: -
--

ALTER TABLE provost.audit ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME provost.audit_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: enrolment_join; Type: TABLE; Schema: provost; Owner: -
--

CREATE TABLE provost.enrolment_join (
    node text NOT NULL COLLATE pg_catalog."C",
    sha256 bytea NOT NULL,
    since bigint NOT NULL,
    until bigint NOT NULL,
    origin text,
    spent bigint
);


--
-- Name: enrolment_request; Type: TABLE; Schema: provost; Owner: -
--

CREATE TABLE provost.enrolment_request (
    node text NOT NULL COLLATE pg_catalog."C",
    key bytea NOT NULL,
    address text NOT NULL,
    client text DEFAULT ''::text NOT NULL,
    since bigint NOT NULL,
    last bigint NOT NULL,
    second boolean NOT NULL,
    rejected boolean DEFAULT false NOT NULL
);


--
-- Name: enrolment_window; Type: TABLE; Schema: provost; Owner: -
--

CREATE TABLE provost.enrolment_window (
    node text NOT NULL COLLATE pg_catalog."C",
    until bigint NOT NULL
);


--
-- Name: history; Type: TABLE; Schema: provost; Owner: -
--

CREATE TABLE provost.history (
    step bigint NOT NULL,
    at bigint NOT NULL,
    began bigint NOT NULL,
    succeeded bigint NOT NULL,
    failed bigint NOT NULL,
    boots text NOT NULL,
    nodes text
);


--
-- Name: history_part; Type: TABLE; Schema: provost; Owner: -
--

CREATE TABLE provost.history_part (
    id bigint NOT NULL,
    at bigint NOT NULL,
    began bigint NOT NULL,
    succeeded bigint NOT NULL,
    failed bigint NOT NULL,
    boots text NOT NULL
);


--
-- Name: history_part_id_seq; Type: SEQUENCE; Schema: provost; Owner: -
--

ALTER TABLE provost.history_part ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME provost.history_part_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: identity; Type: TABLE; Schema: provost; Owner: -
--

CREATE TABLE provost.identity (
    key bytea NOT NULL,
    node text NOT NULL COLLATE pg_catalog."C",
    since bigint NOT NULL,
    until bigint NOT NULL,
    revoked bigint
);


--
-- Name: log; Type: TABLE; Schema: provost; Owner: -
--

CREATE TABLE provost.log (
    node text NOT NULL COLLATE pg_catalog."C",
    run text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    success boolean DEFAULT false NOT NULL,
    bytes bytea NOT NULL
);


--
-- Name: node; Type: TABLE; Schema: provost; Owner: -
--

CREATE TABLE provost.node (
    name text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL,
    due bigint
)
WITH (fillfactor='50');


--
-- Name: notice; Type: TABLE; Schema: provost; Owner: -
--

CREATE TABLE provost.notice (
    id bigint NOT NULL,
    receiver text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    body text NOT NULL
);


--
-- Name: notice_id_seq; Type: SEQUENCE; Schema: provost; Owner: -
--

ALTER TABLE provost.notice ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME provost.notice_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: record; Type: TABLE; Schema: provost; Owner: -
--

CREATE TABLE provost.record (
    run bigint NOT NULL,
    seq integer NOT NULL,
    last integer NOT NULL,
    bytes bigint NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY provost.record ALTER COLUMN body SET STORAGE EXTERNAL;


--
-- Name: run; Type: TABLE; Schema: provost; Owner: -
--

CREATE TABLE provost.run (
    id bigint NOT NULL,
    node text NOT NULL COLLATE pg_catalog."C",
    run text NOT NULL COLLATE pg_catalog."C",
    began bigint NOT NULL,
    pruned boolean DEFAULT false NOT NULL
);


--
-- Name: run_id_seq; Type: SEQUENCE; Schema: provost; Owner: -
--

ALTER TABLE provost.run ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME provost.run_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: step; Type: TABLE; Schema: provost; Owner: -
--

CREATE TABLE provost.step (
    node text NOT NULL COLLATE pg_catalog."C",
    script text NOT NULL COLLATE pg_catalog."C",
    ms bigint NOT NULL,
    cause text,
    since bigint NOT NULL,
    run bigint NOT NULL,
    usual bigint
)
WITH (fillfactor='50');


--
-- Name: storm; Type: TABLE; Schema: provost; Owner: -
--

CREATE TABLE provost.storm (
    began bigint NOT NULL
);


--
-- Name: storm_result; Type: TABLE; Schema: provost; Owner: -
--

CREATE TABLE provost.storm_result (
    began bigint NOT NULL,
    ended bigint NOT NULL,
    nodes bigint NOT NULL,
    succeeded bigint NOT NULL,
    failed bigint NOT NULL,
    lost bigint NOT NULL
);


--
-- Name: token; Type: TABLE; Schema: provost; Owner: -
--

CREATE TABLE provost.token (
    sha256 bytea NOT NULL,
    node text NOT NULL COLLATE pg_catalog."C",
    old_sha256 bytea,
    old_until bigint
);


--
-- Name: version; Type: TABLE; Schema: provost; Owner: -
--

CREATE TABLE provost.version (
    number integer NOT NULL
);


--
-- Name: watch; Type: TABLE; Schema: provost; Owner: -
--

CREATE TABLE provost.watch (
    at timestamp with time zone NOT NULL
);


--
-- Data for Name: admin; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.admin (name, role, token, created, until) FROM stdin;
lee	read	\\xe1d5b828d3f5b783317db1d4bf75d4734c8777d08cac2b3bc8a9c60a81544b51	1795879726000	1796879726000
\.


--
-- Data for Name: audit; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.audit (id, at, who, source, action, request, result) FROM stdin;
1	1795879721836	root	admin.sock	token	{"force":true,"missing":false,"nodes":"cn001"}	done
2	1795879721975	root	admin.sock	token	{"force":true,"missing":false,"nodes":"cn002"}	done
3	1795879722078	root	admin.sock	token	{"force":true,"missing":false,"nodes":"cn003"}	done
4	1795879725683	root	admin.sock	token	{"force":true,"nodes":"cn004"}	done
5	1795879725796	root	admin.sock	token	{"nodes":"cn008"}	done
6	1795879725909	root	admin.sock	release	{"nodes":"cn002"}	done
7	1795879725956	root	admin.sock	remove	{"nodes":"cn004"}	done
8	1795879726005	root	admin.sock	revoke	{"nodes":"cn006"}	refused: no node was revoked: unknown cn006
9	1795879726079	root	admin.sock	admin add	{"forMs":1000000000,"name":"lee","role":"read"}	done
10	1795879726343	root	admin.sock	admin add	{"forMs":60000,"name":"kim","role":"operate"}	done
11	1795879726400	root	admin.sock	admin remove	{"name":"kim"}	done
12	1795879726931	root	admin.sock	join	{"forMs":1800000,"nodes":"cn009"}	done
13	1795879727583	root	admin.sock	join	{"forMs":3600000,"nodes":"cn005"}	done
14	1795879728262	root	admin.sock	approve	{"node":"cn006"}	done
15	1795879728687	root	admin.sock	enroll open	{"forMs":3600000,"nodes":"cn007"}	done
16	1795879728829	root	admin.sock	enroll close	{}	done
\.


--
-- Data for Name: enrolment_join; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.enrolment_join (node, sha256, since, until, origin, spent) FROM stdin;
cn009	\\x19eccee258caabbed44aaaf90d364481caf4d10aca09b6df900db4cee8a4340c	1795879726000	1795881526000	\N	1795879727150
cn005	\\x429957fdfcadb4c3e05346965c5a52f6a6ecc0569cc78075bdac9e85adbd414e	1795879727000	1795883327000	\N	1795879727691
\.


--
-- Data for Name: enrolment_request; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.enrolment_request (node, key, address, client, since, last, second, rejected) FROM stdin;
\.


--
-- Data for Name: enrolment_window; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.enrolment_window (node, until) FROM stdin;
\.


--
-- Data for Name: history; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.history (step, at, began, succeeded, failed, boots, nodes) FROM stdin;
60	1795879680000	0	0	0		{"defined":8}
3600	1795878000000	0	0	0		{"defined":8}
\.


--
-- Data for Name: history_part; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.history_part (id, at, began, succeeded, failed, boots) FROM stdin;
1	1795879680000	1	0	0	
2	1795879680000	0	1	0	116:1
3	1795879680000	1	0	0	
4	1795879680000	0	1	0	
5	1795879680000	1	0	0	
6	1795879680000	0	1	0	86:1
7	1795879680000	1	0	0	
8	1795879680000	0	0	1	
9	1795879680000	1	0	0	
10	1795879680000	0	1	0	113:1
11	1795879680000	1	0	0	
12	1795879680000	0	1	0	122:1
\.


--
-- Data for Name: identity; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.identity (key, node, since, until, revoked) FROM stdin;
\\xd7c51c3292b587b85b42b7327b69d9856afc4ee1b1a6ee27e5c9838d9a82296d	cn009	1795879727150	1798471727000	\N
\\x10f338ae9c5f9a9eccbcdf233bde65966d121b04d7c635ce543e82eecbf98a4c	cn005	1795879727691	1798471727000	\N
\\xe679087d011721ec2b822b2e1e41ed42c6c450c687794c1c06b7e203449e33e9	cn006	1795879728000	1798471728000	\N
\.


--
-- Data for Name: log; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.log (node, run, name, at, success, bytes) FROM stdin;
cn002	01a222c5-e142-750a-9c8a-632153283b9a	03-fails	2026-11-28 15:28:43.850985+00	f	\\x323032362d31312d32385431353a32383a34332e3734375a207374646f757420462073657474696e672075700a323032362d31312d32385431353a32383a34332e3734375a20657865632046203235383538203235383537207368202d6320276563686f206e6f206469736b203e26323b20657869742037270a323032362d31312d32385431353a32383a34332e3734395a207374646572722046206e6f206469736b0a323032362d31312d32385431353a32383a34332e3734395a20657869742046203235383538203720316d730a
\.


--
-- Data for Name: node; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.node (name, state, due) FROM stdin;
cn001	{"name":"cn001","status":"booted","since":"2026-11-28T15:28:43Z","updatestatus":"synced","lastSeen":"2026-11-28T15:28:43Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a222c5-e00b-7715-93f7-70f78481e498","seq":10,"attempt":1,"ended":"success","steps":3,"heard":"2026-11-28T15:28:43Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerun":{"service":"run","run":"01a222c5-df1a-709f-b79b-517ac416eb23","seq":6,"ended":"success","steps":1,"heard":"2026-11-28T15:28:42Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1,"keys":["AB323DAAEB15860C"]},"program":"0.1.0","facts":{"arch":"x86_64","cpus":"2","kernel":"6.18.44-fc-v769","memoryMiB":"24105","os":"debian 12"},"plainHttp":true,"records":{"hour":498855,"inHour":5756,"all":5756,"recordsInHour":26,"runsInHour":3}}	\N
cn003	{"name":"cn003","status":"booted","since":"2026-11-28T15:28:44Z","lastSeen":"2026-11-28T15:28:44Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a222c5-e36a-7469-a2f1-c4f2a1d38c29","seq":6,"attempt":1,"ended":"success","steps":1,"heard":"2026-11-28T15:28:44Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1,"keys":["AB323DAAEB15860C"]},"program":"0.1.0","facts":{"arch":"x86_64","cpus":"2","kernel":"6.18.44-fc-v769","memoryMiB":"24105","os":"debian 12"},"plainHttp":true,"records":{"hour":498855,"inHour":1328,"all":1328,"recordsInHour":6,"runsInHour":1}}	\N
cn002	{"name":"cn002","status":"failed","since":"2026-11-28T15:28:43Z","lastSeen":"2026-11-28T15:28:43Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a222c5-e142-750a-9c8a-632153283b9a","seq":10,"attempt":1,"failure":{"step":{"stage":"fails","args":[]},"cause":"exit","exitCode":7,"errorLine":"4 setup /tmp/.tmpBD9Opz/nodes/cn002/state/bundle/fails","calledFrom":"7 main /tmp/.tmpBD9Opz/nodes/cn002/state/bundle/fails","errorMessage":"setting up\\nno disk","command":"sh -c 'echo no disk >&2; exit 7'","hint":"see all its output on the node: provost log fails; fix it, then: provost boot --continue"},"ended":"failure","steps":4,"heard":"2026-11-28T15:28:43Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[],"released":"2026-11-28T15:28:45.912570212Z"},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1,"keys":["AB323DAAEB15860C"]},"program":"0.1.0","facts":{"arch":"x86_64","cpus":"2","kernel":"6.18.44-fc-v769","memoryMiB":"24105","os":"debian 12"},"plainHttp":true,"records":{"hour":498855,"inHour":2729,"all":2729,"recordsInHour":10,"runsInHour":1}}	\N
cn008	{"name":"cn008","status":"defined","since":"2026-11-28T15:28:45Z","reported":false,"kickstarted":false,"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":0,"plan":0},"plainHttp":false,"records":{"hour":0,"inHour":0,"all":0,"recordsInHour":0,"runsInHour":0}}	\N
cn009	{"name":"cn009","status":"booted","since":"2026-11-28T15:28:47Z","lastSeen":"2026-11-28T15:28:47Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a222c5-efa1-73f3-b17b-b472c8db1d9d","seq":6,"attempt":1,"ended":"success","steps":1,"heard":"2026-11-28T15:28:47Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1,"keys":["AB323DAAEB15860C"]},"program":"0.1.0","facts":{"arch":"x86_64","cpus":"2","kernel":"6.18.44-fc-v769","memoryMiB":"24105","os":"debian 12"},"plainHttp":false,"records":{"hour":498855,"inHour":1328,"all":1328,"recordsInHour":6,"runsInHour":1}}	\N
cn005	{"name":"cn005","status":"defined","since":"2026-11-28T15:28:47.691444886Z","reported":false,"kickstarted":false,"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":0,"plan":0},"plainHttp":false,"records":{"hour":0,"inHour":0,"all":0,"recordsInHour":0,"runsInHour":0}}	\N
cn006	{"name":"cn006","status":"defined","since":"2026-11-28T15:28:48Z","reported":false,"kickstarted":false,"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":0,"plan":0},"plainHttp":false,"records":{"hour":0,"inHour":0,"all":0,"recordsInHour":0,"runsInHour":0}}	\N
\.


--
-- Data for Name: notice; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.notice (id, receiver, at, body) FROM stdin;
\.


--
-- Data for Name: record; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.record (run, seq, last, bytes, body) FROM stdin;
1	1	2	482	\\x28b52ffd60e30065080006943c2340895607b85b28d1f8eddfc4024196ebb2b381094a4d8c58db9005b0dd894571b01301300032003200eac0f33b3eced3e7f32ce7a7cfe84d5968c83ca296e7b77c0ce8e904cbd82d276bc0ad5a4bb5d53d1f6ade94dd30f3908aa25cdca574c3f3a3c07c9e65424dcff99e16ff6015d612e60eed0e4d29549c4a6243a8a631aa04eeee5b7abee3889ebe348c19dc32b4f31bed446df0f43d5f3a20f874d60a9a43389f01a377085f4ef8144f8fedb5c67eec41a636694fc545995a0e011155556d7c99984cc3349e76f12603ce562cde940091c877159cc72c1dcf97cfd3135d6ccf0f601209d1d374f374a5211e0a2a54070049b4d3305aacc1221536eba5d7fd00857678deb907
1	3	10	1735	\\x28b52ffd60ce05f50b00e6954224306bac0383967fca4ac1f3e3a30b7136687674e61acf0cd45689fed2001f0b0903851415350037003b00dcdf77b394531fbe3e53b3f4fda41c00cf1d1bc8f78dacbc70787ec4dadf27b0061f83cb42782c592b714cb1c343a0589b21a71e22bbe0f99974727c15f806c634b7b4a7f0535ca224f39265ba44e2d49cc922196371a9c3d349fa7e2945e5e17946f4fb1a458ec3b3741ca46cbdea40cef36d558ab50122d85af0cda09153a334cd6fe3b5e3f33d3f686ce4f72c69d4f880726f598b0285824061ca427105f88e30038d0fe40111eda9d518b314c63cc724da6b9346088ae437d178236b94640b3ca4f875edb107bf700cba0f1e22f455f0cd80b876a4bf12f7f46516a554292060221119c41b60e9303d9829dc8bc1d105e0720877183bc98c7c9d5ad04463ef0e35a6a88d006034866b1dc6ea78d865b824f421dad330ca45081082e271f12cd9fa5a90b5e1a65bab5b3e745c1a82062ab004ee8250c021a805cac87641bc18a642c2fa333972da25212c22efa0a0
2	1	2	468	\\x28b52ffd60d5002d080036d33a2340895607b85b28d118cddec402bd90142833e10b287db1475a8324c4232616c5c14e042f0031002f00f0fb8ed0f3f4c7117d9f3e239eb2d0b079442dbf6fc98bc6d309b4ada29bb001451563cae9d2ef1b0e4fd94e330f09f1ada6de61599412952dddf0fb283021e83db1fdc1415f3bd6202358a2de82788a5916423163a24aa0aa325bdf74b6d6130a32aa3583c20cee7b463f511b3c5dbf978e067c7a73054e41f87e01233e642f2764e6e9d171afd8dc1836a589631591b5d65a6e2f13b3711ac6932a782ee06c46c153024422575678b8791dbf97d0d393c59a7e1fd0241222c869e7e98b433c02070078b3d3c859acc1221b29fbd24fb817676b3cef8402
2	3	6	896	\\x28b52ffd608302f5090016543e24306b9d038396b7d5966aefbf69c9f75377eed0738d6706a0d8b6d9d58e3f1012060a292a3200330037000ce1d5dfcfea6a9667972207ecb9dff438fb042733bee7c69b7df604b7ece3965184c725aa49e39afbfe61bdd96c51f30f015774a6ec19141771a30b7c8e32498470a28481684ef29421250c74ce3d6d5f766d2dc2ef5972c4b3c74b7ecf906a90dc67ef0e6f685216559d2d53bed9001187d937141dd47cf292ce16e7467c135c7ca0350fa38a82448240718a2271857d437821beea71a67baea4181147b5698ff3ec159441f781c3b3cedabe218b6743ba21c97d9d2d4ef72dc567590e78c62c2e799a0e81867c67ad35a78f6e16005e230b32261294120cbf5b00306c71122b20a72bbfd13c3ecc9bda391ae25c4d18be1bb22b131461512891013d5866820aabcfe4c86ad74f108238efe61de61e
3	1	2	482	\\x28b52ffd60e3006d080006d43c2330895807c3b42a6905fcb37fc304a4d4e71637c438408ce8ef48f16650aa82221850013100330031000ac5ef9b89a0abcf285abe579f134f59e8e834a696dfb76485747582835bd8166103b02dc6d66bdabe971e9eb21f67de118ab220d398d21dbf670466142d537a7a4ebe62fb03a8b866d0c1a4d16425cd4159084b92b5a8f642626b8d997e0f31a6ab330dce192033bcef170d4d6d70f5f6bd6448f1eaee153c88f0bd224e7cc75ecec8cdd599c7ad4cb3e3e856431e2f6651b796430f55557d7b8998cee32cae5a82a722ce6e123c25c0e3f1c60a103b4b33dfcbe8ea8832d7be0f70100953f4f47375e5258d159b15070049b4d3305aacc1221536eba5d7fd00857678deb907
3	3	10	1693	\\x28b52ffd60a405850c00f6974824306bac0383db116505ecb9c8a20a7236687674e61acf2ca6b1d007761c50f05c03031de73a003f0040008767391b28eeefbb59caaa0f5fa1aa99fadea1bce0b9e3337dffc8ca90c37324d6fe3e4159e073906908cf25ad2509c7dce1a728d6e668d643040a637105f87ee0051aa1e9dbe0197268f5f82af00c4fb1707bcb6b20ac491a88a24898d634c983314e18e99c8b8d1d9e56d4f78d312a0fcf8e44bfaf92f4089b584d2b6ad5b90412dca2d2622a398777789ae6427f99a552b1364044e3e0bb41a5592355395fc76b47e87b8ed0f8c8ef5952c9f10196784c63142c16048a0b114b8235a7280f9e310dba0f1c62f465f0dd88b8f6437f29eeeaab281863aebd06df8d3aa3097ddfece5ac8ecf8ad0f95489ae6d1c7f648d94ec8008151f24201014428ce478dfc898cc9314c5c5d05801b4beb8e908964bf9106f69d07e20be4771809fac712140b84314c674ed2524d187424bc3e008212d842a8b125ca7016a0254ad4dd3f418d196428840af0946e156d00a94817501b460a682c2fa7b3912da25a12222ef70a1
4	1	2	482	\\x28b52ffd60e3006d080006d43c2340893807b85b54d94ead55506895ee22c5277c01a5976fd093966dec0ac11435a411013100320032002c82d7b32345576f496aae57ef693b16183e8f89e3f51c77d1b83a41e2744955dac092abb5f592e5f50d683b32f4f421010cb316271bc30caf77045a929a6e40dcbd574d7fb04c932c99282d93b77681cc5aa61c56bac64b8199b98d5d1f39a6ab270bce19966678d733389ad8e0ea797d7434e0d5dd2b780bc2f50b38ed21fad870135777de327378dd42b75279bb9c86b9d5240111c618634f1f11fd400fe32a15db0bd89c506c478048e4d90ad13e0d3bd747e9ea0a6b2eaf0f7810099304317475e61d1e0b2656070049b4d3305aacc1221536eba5d7fd00857678deb907
4	3	10	2247	\\x28b52ffd60ce07f51200a6256e26f0905807f82d7f9169a4bc490401ed82d861217190d51a526d8b005ff86a73e24c6433b3d1175e00650065000e8230308a12063a8f08e31ccf328fe89c838ff3f779d5b73bc799f1ef2bd1f9f6a6b4f2f78df2a22ebf9d7963bcf8ef4d5dbcf5edd25cf6be0c27ebed53eca5f8fb5a60f3db2120c78bdc7b3c0f91639e878138c7fdddaa60f356b2af11cd79674ab5cd18fc5697af37c7c3711cf744cf3b535a56927a737485cd001b10087a67caa4b261bda4b7893743eaed4c4948f1f6b54c38c5b76f9c74e2070e247a3c9304030304c841138347bc33c6564c48596fcffb52d2bc2a6fd0bb059454a0c8418f27ef6f79d90bc695e841cbcbbe492a584a8cce29615dcc3265f732f3529a661b36370daf446793613548102656d5038d5575c3acab9799e3ef3b2543a5b5eedbb75e9484141144e2783cd2845545e35b64e2536c582337960adf200e8ade277281d9e102ab071b90c711f13e2f87a6f3cd791cf4bda6ec4923c3b0a6b432776ad65ab28ba46004cc4229d64c2f68b5d85b894eb653b349595f565f94714b465190ed4e39494b49a83025ac58e4ef15ad0ad252148c6f1788b0969765042ea080313ac515609161133f3a204042620899f6b6f3fb611650317910c89d01095b803e8a65b472214235b34bd995ced93400be25f5d8ea59d80b8a0f65b9ca683d1873ee46db593ac9b4c06512c11b6fc8f58863e8292e00be8b1a0a101c11f0ae542b45ef7f4188d0c0ac81bb1a6e77395c127d88d66918e510425441f7b878966c1e5aa8b5e1a6b556977ce8b9691834d1e886910522a847c808bb20fcd0068244f0277264db25a11791779850
5	1	2	482	\\x28b52ffd60e30065080006943c2330895807c3b42a6905fcb37fc3848454e61637c438400c5b23909c00a8a1064630ac023100320031000c82df778ca0abcf2862be579f134f5968e834a696dfb76485747502c4ada29bb40145576beb29d3efa587a7ecc7997704cbb294a86de986df47811945cc949e9e93afdafe6051a820b1b1360eaed628afe5b9c3e287f44aa0aa7263df438ce9ea080bce19946678df2f1a9adae0eafabd6448f0eaee153c05e17b059cf88ebd9c909babc7c7cd62b363e896268f5764985b0c120fc618636f2f11d3799cc59526782ae0ec26c153023c1ed75680d8613a7e2fa3ab27ac39fd3ec041244cd1d3cfd59777682cd8ac070049b4d3305aacc1221536eba5d7fd00857678deb907
5	3	6	846	\\x28b52ffd605102450900c6923a24308b3807435cde562d6ddfaf602a5d4f945ce9cc35ce2e9058f4ffca337358420a0a0ca82e002e003300fb0855cdd4f38ec4017bee17913c1f819121dfb3c28bfd3c425bd6e932ecc0a9c298d2e8d2ef25d18bcdd1130f110b5418449fa2689684f29ac60a0355f5b1f5bd5451cfb7b524f83d3b93f47c9ca6c7f70c9f068afbf96e86b0ea07dd90a6273eaa729e8e3b4c503b2eb01ac73006c16231d0b431164fd8f78417a407499e6ccf9023558f67db332814bae6b0a7901189a68d53b7673c05dd060f2f7aae7d37228e3de927c55d3d5d63ccb2d652e6d8be1bf1891ee8b944eac50688706e1f140060234b9a2412c8110c8f5b80b6adb8aa0947b7f221db95068c37cd9c68ba217b32410b1603890ba0c1321354587f264756bb241444e41d2614
6	1	2	482	\\x28b52ffd60e30065080006943c2230895807c3b42a6905beb17fc384a420251637c438400cd8e77abd1994aaa0080654310033003100eb89dfb79ccfd3eb9cf0fbf41a71a5858e4d236afa7d5356404f2748dc2a6d1136a034c5987a6db5ef21872b6da7a97704cba214d9d8d21dbf9702754e5821a76be527b63f908b64502ab1250e2a9830a80ecc21518c9956486cad315bdf3f8ce8e9cb0ace19146678df2ffa89dae0e9ed7bca80e2d3dd2b780ac2f78a18f11d7b5a23334f978f7bc966c7d1a9863c56122ea7e0218fb5d65a6f4f11b5719ac5534b7055c4da4c822b05783cde58e1e106b6fc9ecea7238bb9f67d40834888a6d3ced3979734546454070049b4d3305aacc1221536eba5d7fd00857678deb907
6	3	6	846	\\x28b52ffd605102450900b6d23a24208b580767db3f65b5d52b3116425a35623747182c567c51221edc145a880100c2001c0f2f002e003300fb094dcdd2f55172c09efb3d22d73fe064c7f7acf0665f8fd02cebd832ebc031652d05c114fb3e12bdd91c3df30f018ba338cd7294e6688db29e83150632c6de52dfcb49ba3ea19484df7384c8eb2704e27ccff06990b8afef6608a77ecd9090673e698ad7c6673fa871018570cc5a102814038db585e209fb96f0827c50e4baf60c453939d7b6678889b89ce8206b0213e61a62616ebf780aba0d1c5e7455fb66443c5bd257897bba328b514ab1e5d6be19f3891ee8ba4ce9cd0698b0a5ed0313005f234b9a2412c8110c8e5b80b2ad38aa095cb732a3db4deda0191a5d37645126a8c1622471813c5866820aebcfe4c86a97848288bcc38402
\.


--
-- Data for Name: run; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.run (id, node, run, began, pruned) FROM stdin;
1	cn001	01a222c5-dd06-76d5-89c0-638e38456492	1795879722000	f
2	cn001	01a222c5-df1a-709f-b79b-517ac416eb23	1795879722000	f
3	cn001	01a222c5-e00b-7715-93f7-70f78481e498	1795879723000	f
4	cn002	01a222c5-e142-750a-9c8a-632153283b9a	1795879723000	f
5	cn003	01a222c5-e36a-7469-a2f1-c4f2a1d38c29	1795879723000	f
6	cn009	01a222c5-efa1-73f3-b17b-b472c8db1d9d	1795879727000	f
\.


--
-- Data for Name: step; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.step (node, script, ms, cause, since, run, usual) FROM stdin;
cn001	once	9	\N	1	1	\N
cn001	change	24	\N	1	2	48
cn001	fetch	27	\N	1	3	98
cn001	last	3	\N	1	3	23
cn002	change	15	\N	1	4	\N
cn002	fails	32	exit	1	4	\N
cn002	fetch	336	\N	1	4	\N
cn002	once	4	\N	1	4	\N
cn003	fetch	88	\N	1	5	\N
cn003	slow	138	\N	1	5	\N
cn009	fetch	342	\N	1	6	\N
cn009	last	15	\N	1	6	\N
\.


--
-- Data for Name: storm; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.storm (began) FROM stdin;
\.


--
-- Data for Name: storm_result; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.storm_result (began, ended, nodes, succeeded, failed, lost) FROM stdin;
\.


--
-- Data for Name: token; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.token (sha256, node, old_sha256, old_until) FROM stdin;
\\x052b03af7e8108076249f2778a56dddf8fba87c9f21afc40104d8f76462dd270	cn001	\N	\N
\\xd36361a43c227fa16f454340365f05e781e49c4972e8664c816a20867b6516e4	cn002	\N	\N
\\xb4cdcd7d8b680a641cfcc141fccb0b84b959cdf486c21563efa39c455277b42e	cn003	\N	\N
\\x2ef03a57b58d33c851cc285fa0e98a99262f8ac35bc6eca43691d69c05f361e5	cn008	\N	\N
\.


--
-- Data for Name: version; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.version (number) FROM stdin;
14
\.


--
-- Data for Name: watch; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.watch (at) FROM stdin;
2026-11-28 15:28:47.392709+00
\.


--
-- Name: audit_id_seq; Type: SEQUENCE SET; Schema: provost; Owner: -
--

SELECT pg_catalog.setval('provost.audit_id_seq', 16, true);


--
-- Name: history_part_id_seq; Type: SEQUENCE SET; Schema: provost; Owner: -
--

SELECT pg_catalog.setval('provost.history_part_id_seq', 12, true);


--
-- Name: notice_id_seq; Type: SEQUENCE SET; Schema: provost; Owner: -
--

SELECT pg_catalog.setval('provost.notice_id_seq', 1, false);


--
-- Name: run_id_seq; Type: SEQUENCE SET; Schema: provost; Owner: -
--

SELECT pg_catalog.setval('provost.run_id_seq', 6, true);


--
-- Name: admin admin_pkey; Type: CONSTRAINT; Schema: provost; Owner: -
--

ALTER TABLE ONLY provost.admin
    ADD CONSTRAINT admin_pkey PRIMARY KEY (name);


--
-- Name: admin admin_token_key; Type: CONSTRAINT; Schema: provost; Owner: -
--

ALTER TABLE ONLY provost.admin
    ADD CONSTRAINT admin_token_key UNIQUE (token);


--
-- Name: audit audit_pkey; Type: CONSTRAINT; Schema: provost; Owner: -
--

ALTER TABLE ONLY provost.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (id);


--
-- Name: enrolment_join enrolment_join_pkey; Type: CONSTRAINT; Schema: provost; Owner: -
--

ALTER TABLE ONLY provost.enrolment_join
    ADD CONSTRAINT enrolment_join_pkey PRIMARY KEY (node);


--
-- Name: enrolment_request enrolment_request_pkey; Type: CONSTRAINT; Schema: provost; Owner: -
--

ALTER TABLE ONLY provost.enrolment_request
    ADD CONSTRAINT enrolment_request_pkey PRIMARY KEY (node, key);


--
-- Name: enrolment_window enrolment_window_pkey; Type: CONSTRAINT; Schema: provost; Owner: -
--

ALTER TABLE ONLY provost.enrolment_window
    ADD CONSTRAINT enrolment_window_pkey PRIMARY KEY (node);


--
-- Name: history_part history_part_pkey; Type: CONSTRAINT; Schema: provost; Owner: -
--

ALTER TABLE ONLY provost.history_part
    ADD CONSTRAINT history_part_pkey PRIMARY KEY (id);


--
-- Name: history history_pkey; Type: CONSTRAINT; Schema: provost; Owner: -
--

ALTER TABLE ONLY provost.history
    ADD CONSTRAINT history_pkey PRIMARY KEY (step, at);


--
-- Name: identity identity_pkey; Type: CONSTRAINT; Schema: provost; Owner: -
--

ALTER TABLE ONLY provost.identity
    ADD CONSTRAINT identity_pkey PRIMARY KEY (key);


--
-- Name: log log_pkey; Type: CONSTRAINT; Schema: provost; Owner: -
--

ALTER TABLE ONLY provost.log
    ADD CONSTRAINT log_pkey PRIMARY KEY (node, run, name);


--
-- Name: node node_pkey; Type: CONSTRAINT; Schema: provost; Owner: -
--

ALTER TABLE ONLY provost.node
    ADD CONSTRAINT node_pkey PRIMARY KEY (name);


--
-- Name: notice notice_pkey; Type: CONSTRAINT; Schema: provost; Owner: -
--

ALTER TABLE ONLY provost.notice
    ADD CONSTRAINT notice_pkey PRIMARY KEY (id);


--
-- Name: record record_pkey; Type: CONSTRAINT; Schema: provost; Owner: -
--

ALTER TABLE ONLY provost.record
    ADD CONSTRAINT record_pkey PRIMARY KEY (run, seq);


--
-- Name: run run_node_run_key; Type: CONSTRAINT; Schema: provost; Owner: -
--

ALTER TABLE ONLY provost.run
    ADD CONSTRAINT run_node_run_key UNIQUE (node, run);


--
-- Name: run run_pkey; Type: CONSTRAINT; Schema: provost; Owner: -
--

ALTER TABLE ONLY provost.run
    ADD CONSTRAINT run_pkey PRIMARY KEY (id);


--
-- Name: step step_pkey; Type: CONSTRAINT; Schema: provost; Owner: -
--

ALTER TABLE ONLY provost.step
    ADD CONSTRAINT step_pkey PRIMARY KEY (node, script);


--
-- Name: storm storm_pkey; Type: CONSTRAINT; Schema: provost; Owner: -
--

ALTER TABLE ONLY provost.storm
    ADD CONSTRAINT storm_pkey PRIMARY KEY (began);


--
-- Name: storm_result storm_result_pkey; Type: CONSTRAINT; Schema: provost; Owner: -
--

ALTER TABLE ONLY provost.storm_result
    ADD CONSTRAINT storm_result_pkey PRIMARY KEY (began);


--
-- Name: token token_node_key; Type: CONSTRAINT; Schema: provost; Owner: -
--

ALTER TABLE ONLY provost.token
    ADD CONSTRAINT token_node_key UNIQUE (node);


--
-- Name: token token_old_sha256_key; Type: CONSTRAINT; Schema: provost; Owner: -
--

ALTER TABLE ONLY provost.token
    ADD CONSTRAINT token_old_sha256_key UNIQUE (old_sha256);


--
-- Name: token token_pkey; Type: CONSTRAINT; Schema: provost; Owner: -
--

ALTER TABLE ONLY provost.token
    ADD CONSTRAINT token_pkey PRIMARY KEY (sha256);


--
-- Name: audit_at; Type: INDEX; Schema: provost; Owner: -
--

CREATE INDEX audit_at ON provost.audit USING btree (at);


--
-- Name: enrolment_request_of_client; Type: INDEX; Schema: provost; Owner: -
--

CREATE INDEX enrolment_request_of_client ON provost.enrolment_request USING btree (client) WHERE (NOT rejected);


--
-- Name: identity_of_node; Type: INDEX; Schema: provost; Owner: -
--

CREATE UNIQUE INDEX identity_of_node ON provost.identity USING btree (node) WHERE (revoked IS NULL);


--
-- Name: identity_revoked; Type: INDEX; Schema: provost; Owner: -
--

CREATE INDEX identity_revoked ON provost.identity USING btree (node, revoked) WHERE (revoked IS NOT NULL);


--
-- Name: log_at; Type: INDEX; Schema: provost; Owner: -
--

CREATE INDEX log_at ON provost.log USING btree (at);


--
-- Name: node_due; Type: INDEX; Schema: provost; Owner: -
--

CREATE INDEX node_due ON provost.node USING btree (due) WHERE (due IS NOT NULL);


--
-- Name: notice_of_receiver; Type: INDEX; Schema: provost; Owner: -
--

CREATE INDEX notice_of_receiver ON provost.notice USING btree (receiver, id);


--
-- Name: run_of_any_node; Type: INDEX; Schema: provost; Owner: -
--

CREATE INDEX run_of_any_node ON provost.run USING btree (run, id);


--
-- Name: run_of_node; Type: INDEX; Schema: provost; Owner: -
--

CREATE INDEX run_of_node ON provost.run USING btree (node, id) WHERE (NOT pruned);


--
-- Name: run_pruned; Type: INDEX; Schema: provost; Owner: -
--

CREATE INDEX run_pruned ON provost.run USING btree (began) WHERE pruned;


--
-- PostgreSQL database dump complete
--


