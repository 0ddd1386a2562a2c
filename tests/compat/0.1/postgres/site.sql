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
-- Name: job; Type: TABLE; Schema: provost; Owner: -
--

CREATE TABLE provost.job (
    id text NOT NULL COLLATE pg_catalog."C",
    began bigint NOT NULL,
    beat bigint DEFAULT 0 NOT NULL,
    ended bigint,
    interrupted bigint,
    body text NOT NULL
);


--
-- Name: job_node; Type: TABLE; Schema: provost; Owner: -
--

CREATE TABLE provost.job_node (
    job text NOT NULL COLLATE pg_catalog."C",
    node text NOT NULL COLLATE pg_catalog."C",
    failure text
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
lee	read	\\x24c0a1b40d955736cdadfada4d2f49d11543d6dad6d4afd772e7133304755557	1795892548000	1796892548000
\.


--
-- Data for Name: audit; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.audit (id, at, who, source, action, request, result) FROM stdin;
1	1795892546012	root	admin.sock	token	{"force":true,"missing":false,"nodes":"cn001"}	done
2	1795892546165	root	admin.sock	token	{"force":true,"missing":false,"nodes":"cn002"}	done
3	1795892546286	root	admin.sock	token	{"force":true,"missing":false,"nodes":"cn003"}	done
4	1795892548329	root	admin.sock	token	{"force":true,"nodes":"cn004"}	done
5	1795892548416	root	admin.sock	token	{"nodes":"cn008"}	done
6	1795892548484	root	admin.sock	release	{"nodes":"cn002"}	done
7	1795892548542	root	admin.sock	remove	{"nodes":"cn004"}	done
8	1795892548597	root	admin.sock	revoke	{"nodes":"cn006"}	refused: no node was revoked: unknown cn006
9	1795892548660	root	admin.sock	admin add	{"forMs":1000000000,"name":"lee","role":"read"}	done
10	1795892548741	root	admin.sock	admin add	{"forMs":60000,"name":"kim","role":"operate"}	done
11	1795892548802	root	admin.sock	admin remove	{"name":"kim"}	done
12	1795892549045	root	admin.sock	join	{"forMs":1800000,"nodes":"cn009"}	done
13	1795892549383	root	admin.sock	join	{"forMs":3600000,"nodes":"cn005"}	done
14	1795892549642	root	admin.sock	approve	{"node":"cn006"}	done
15	1795892549799	root	admin.sock	enroll open	{"forMs":3600000,"nodes":"cn007"}	done
16	1795892549883	root	admin.sock	enroll close	{}	done
\.


--
-- Data for Name: enrolment_join; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.enrolment_join (node, sha256, since, until, origin, spent) FROM stdin;
cn009	\\xd43cce051c729dda306aa24b0c076e36eec9912c42ce2ff53d0ac279ab056e7a	1795892549000	1795894349000	\N	1795892549167
cn005	\\x09f3bf2f483d32421019578b45eb0b5bf3f029460befe0f91a3a8364d34f1ce7	1795892549000	1795896149000	\N	1795892549456
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
60	1795892520000	0	0	0		{"defined":8}
3600	1795892400000	0	0	0		{"defined":8}
\.


--
-- Data for Name: history_part; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.history_part (id, at, began, succeeded, failed, boots) FROM stdin;
1	1795892520000	1	0	0	
2	1795892520000	0	1	0	118:1
3	1795892520000	1	0	0	
4	1795892520000	0	1	0	
5	1795892520000	1	0	0	
6	1795892520000	0	1	0	86:1
7	1795892520000	1	0	0	
8	1795892520000	0	0	1	
9	1795892520000	1	0	0	
10	1795892520000	0	1	0	110:1
11	1795892520000	1	0	0	
12	1795892520000	0	1	0	109:1
\.


--
-- Data for Name: identity; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.identity (key, node, since, until, revoked) FROM stdin;
\\xe9ad6f341ceb32a518edc5c8b16007607ad3d31fd89c29487fdae8d258faa5a3	cn009	1795892549167	1798484549000	\N
\\x38589a9e38c2ef423bdc4de3b7fcc3c6987ac02cf3a739e607fe775c4bee3bb0	cn005	1795892549456	1798484549000	\N
\\x2922fd083161b1c579be6a561a0aa716d8f7fe061d7e3ae7ddca4ac1df864d9a	cn006	1795892549000	1798484549000	\N
\.


--
-- Data for Name: job; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.job (id, began, beat, ended, interrupted, body) FROM stdin;
\.


--
-- Data for Name: job_node; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.job_node (job, node, failure) FROM stdin;
\.


--
-- Data for Name: log; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.log (node, run, name, at, success, bytes) FROM stdin;
cn002	01a22389-8eea-7332-a4bb-e20a9b0f507f	03-fails	2026-11-28 19:02:27.63401+00	f	\\x323032362d31312d32385431393a30323a32372e3531375a207374646f757420462073657474696e672075700a323032362d31312d32385431393a30323a32372e3533345a20657865632046203135313334203135313332207368202d6320276563686f206e6f206469736b203e26323b20657869742037270a323032362d31312d32385431393a30323a32372e3533355a207374646572722046206e6f206469736b0a323032362d31312d32385431393a30323a32372e3533355a20657869742046203135313334203720306d730a
\.


--
-- Data for Name: node; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.node (name, state, due) FROM stdin;
cn001	{"name":"cn001","status":"booted","since":"2026-11-28T19:02:27Z","updatestatus":"synced","lastSeen":"2026-11-28T19:02:27Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a22389-8e45-7531-b8f9-fc9bea4cad12","seq":10,"attempt":1,"ended":"success","steps":3,"heard":"2026-11-28T19:02:27Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerun":{"service":"run","run":"01a22389-8d26-74f6-bce0-ead09041b310","seq":6,"ended":"success","steps":1,"heard":"2026-11-28T19:02:27Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1,"keys":["52F1AC3D02B59A92"]},"program":"0.1.0","facts":{"arch":"x86_64","cpus":"2","kernel":"6.18.44-fc-v769","memoryMiB":"24105","os":"debian 12"},"plainHttp":true,"records":{"hour":498859,"inHour":5755,"all":5755,"recordsInHour":26,"runsInHour":3}}	\N
cn003	{"name":"cn003","status":"booted","since":"2026-11-28T19:02:27Z","lastSeen":"2026-11-28T19:02:27Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a22389-9047-72bd-bc15-33d7899db24a","seq":6,"attempt":1,"ended":"success","steps":1,"heard":"2026-11-28T19:02:27Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1,"keys":["52F1AC3D02B59A92"]},"program":"0.1.0","facts":{"arch":"x86_64","cpus":"2","kernel":"6.18.44-fc-v769","memoryMiB":"24105","os":"debian 12"},"plainHttp":true,"records":{"hour":498859,"inHour":1328,"all":1328,"recordsInHour":6,"runsInHour":1}}	\N
cn002	{"name":"cn002","status":"failed","since":"2026-11-28T19:02:27Z","lastSeen":"2026-11-28T19:02:27Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a22389-8eea-7332-a4bb-e20a9b0f507f","seq":10,"attempt":1,"failure":{"step":{"stage":"fails","args":[]},"cause":"exit","exitCode":7,"errorLine":"4 setup /tmp/.tmpEr07Mu/nodes/cn002/state/bundle/fails","calledFrom":"7 main /tmp/.tmpEr07Mu/nodes/cn002/state/bundle/fails","errorMessage":"setting up\\nno disk","command":"sh -c 'echo no disk >&2; exit 7'","hint":"see all its output on the node: provost log fails; fix it, then: provost boot --continue"},"ended":"failure","steps":4,"heard":"2026-11-28T19:02:27Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[],"released":"2026-11-28T19:02:28.493866283Z"},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1,"keys":["52F1AC3D02B59A92"]},"program":"0.1.0","facts":{"arch":"x86_64","cpus":"2","kernel":"6.18.44-fc-v769","memoryMiB":"24105","os":"debian 12"},"plainHttp":true,"records":{"hour":498859,"inHour":2729,"all":2729,"recordsInHour":10,"runsInHour":1}}	\N
cn009	{"name":"cn009","status":"booted","since":"2026-11-28T19:02:29Z","lastSeen":"2026-11-28T19:02:29Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a22389-95e7-7522-91a8-8432f98f5780","seq":6,"attempt":1,"ended":"success","steps":1,"heard":"2026-11-28T19:02:29Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1,"keys":["52F1AC3D02B59A92"]},"program":"0.1.0","facts":{"arch":"x86_64","cpus":"2","kernel":"6.18.44-fc-v769","memoryMiB":"24105","os":"debian 12"},"plainHttp":false,"records":{"hour":498859,"inHour":1328,"all":1328,"recordsInHour":6,"runsInHour":1}}	\N
cn008	{"name":"cn008","status":"defined","since":"2026-11-28T19:02:28Z","reported":false,"kickstarted":false,"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":0,"plan":0},"plainHttp":false,"records":{"hour":0,"inHour":0,"all":0,"recordsInHour":0,"runsInHour":0}}	\N
cn005	{"name":"cn005","status":"defined","since":"2026-11-28T19:02:29.456012686Z","reported":false,"kickstarted":false,"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":0,"plan":0},"plainHttp":false,"records":{"hour":0,"inHour":0,"all":0,"recordsInHour":0,"runsInHour":0}}	\N
cn006	{"name":"cn006","status":"defined","since":"2026-11-28T19:02:29Z","reported":false,"kickstarted":false,"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":0,"plan":0},"plainHttp":false,"records":{"hour":0,"inHour":0,"all":0,"recordsInHour":0,"runsInHour":0}}	\N
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
1	1	2	482	\\x28b52ffd60e3006d080006d43c224069ac033b2bc612fc47acc388902732ad0af8664a2f0fec13ad803e62ee3020d8893100340031000ac5ef9b89a0abcf2882dfabcf89a734747410a696dfb76485747582d7b6e92e6c40698bb1f59ab6efa587a7ecc7995f08cbb214a6b1a53b7ecf08cc2882537a7a4ebe62fb038eaa0a441ae4488eb5300c2e9820c9720854d6a21cad31d3ef21c67475a601ce1d147678df2f1a9adae0eaed7bc990e2d5dd2b784ac2f78a38f117f672466eaece3c6e659a1d47b71af2783150dd82470d55557d7b8998cee32cae5a82a722ce6e123c2540a3f1c60c103bb099ef65747544996bdf07380885297afab9faf21284159b15070049b4d3305aacc1221536eba5d7fd00857678deb907
1	3	10	1734	\\x28b52ffd60cd05ed0b00e6d54224206baa0e67cb11d59debb5858aef8f608c64269aeefcbb848605d9543944000430208207360038003a00b2bfef9631567d7e95aa96f4fb67ca00be6c083dbe8762958df3a503d6fe3e6169dc16370ce13584316469ab9dff98606d3945f51001cbf8527a66e57c1d9f01c6b59ea33414c738a4799883388cc22089e23ca479ae35c8d6f9b3a2dfb3b5663c5f3ed4fcbe529473be8c51030def458da648fa2695c2da00118c357e2f26155548abe7cb786d287d2f1d1342f17b1927c5786b128da2688bc00d24584153aec0ef07b930a1f47811c9728badd7bcc5356e61fd4c384d54fc328c43b1421a5bc041e17769c9e32b2283ee0307384db2f6437f17bf175476f56594b556638f712720502231648e3b5f9131399829da8ba1d105c8e838c1ac5359902f52089a50e0dda18e14b52900108d70ad83b1fa1c0ad76232fa102dd2304a2104a882f6b8789a6c1d2d689d518133ae2b1f3a561a060d1a5d20647104b55019192e8817cc5448587f2b4772bb248422f20e130a
2	1	2	468	\\x28b52ffd60d50025080036933a2340a93607b81b066d27da55b0f4cb6e02c4274801a52fb5acf6cb029d5f715104a411012f0031002f00eefb7ed0f3f407127d9f1e238eb0d0ae89440dbf6fc88dc7d3099aaee62e6b4051b5966a9afafdc3e108db69e225018f49a698c3b228e5e95abaddf74f204210f3b4f607b90ecc62b9e4e356d98e516dc112aae953d4a21c5479e5377d653e01ca2d1463066519daf78e7ea23678ba7e0f210ff774d60a9a82f07dc3457cc91e46c78ba7bfc69daf99b1634a118d5593cccc6c7ba8888dd3389e94c1b1e1622f181c21c064725d85871ba6dff7107a3a2217d3ef031a45420439ed3c7d698948070078b3d3c859acc1221b29fbd24fb817676b3cef8402
2	3	6	896	\\x28b52ffd608302f50900e6933d24406b9c03734dd9d556745fdb8642760ff9eb827614d5bf272d3ffa93aaa737c51c3f5f13310032003600ef55fdfd94aa66f975183960cfed20c8d7a137d9f13d3fdcecaf2b306d1b5b47139a96a8264c63ed7bc8e466f314cd43045fcabe81a9d2d085390c3a4e18bf46c23896818469b0499c4669cd29fbae2b63f17dcf908a5f8f95fc9e5fe420b9bfdecd01339a22e96b99d2cd0688d0b6ef2752d174b2825f8cf3233ae831de1c8593583456a01028d4a025beb0ef0833442741be74cf128c552311aaca2c0bd3ec17d14137c2839bbed8be9f896747ba1fc95d7db5a56174d344bdaf04e392a149093ca4fb628c356d74df4f17005e230b32261294120cbf5b0030ace20c8880a7cbe07a5b349a778779d33047439cab09c37743766582222c0a2532a007cb4c5061f5991c59edfa094210e7ddbcc3dc03
3	1	2	482	\\x28b52ffd60e3006d080006d43c2340895607b85b28d118cddec402bd1021407cc217507ad9475a8324c4232616c5c14e04310033003100eb81df77849ea74f085abe4f9f114f5968d83ca296dfb7e445e3e904085d5dfbd880a28a31e574e9f70d87a76ca7998704ef29252a7bddf0fb28302168990da7e7e427b63f50161936eee541463d4659143b240895b456d4530eaaccd6f78f237a3a5b01ad19146670df33fa89dae0e9fabd7434e0d39b2b700ac2f70b18f1217b3921334f8f8e7bc5e6c6b0294d1cabb8aca6964391b5d65a6e2f13b3711ac6932a782ee06c46c153024422575678b8593a7e2fa1a7278b35fd3ea049244490d3ced39f433c146454070049b4d3305aacc1221536eba5d7fd00857678deb907
3	3	10	1693	\\x28b52ffd60a4057d0c00e6574824306d9c0343871b65ec67cde95148af23844a2a06faf9cac43ab0f834057258060c8c1ae439003f004000df338c0f14f7f5dd0c61d5df4fa86aa6ae7724af3df77ba6eb1f3819f23d47deeceb17186e1ddba629302e692d5938e6be9fa2379ba3382f11076e39c3be23b8413e68bab63d438eac1e5765efe09af3a0e2f1a38190a481308fa4290b235914cc240da338f71afb5e56d4f58d3109bf674792d74f497a04ba582d2b6acdb80416164b4a8ba5e47ceff034c586be2e8a49bdd900134dd977434a713eaa72ae8ecf7ed0f51c91ef81d7339492e3ae19681602c70c9482811613cb823585c2ec0922427702c48bae6cdf8d886747f495e2aeae4dc318738d69fb6ecc1845e8cac45eceeaf7ac888ccf94e45286e30f9c8f821d10a1de0324201014428ce478dfc898cc9314c5c5d05801babeb8e908964bf9106f69d07e20be4771809fac712140b84314c674ed2524d187424bc3e008212d842a8b125ca7016a0254ad4dd3f418d196428840af0946e156d00a94817501b460a682c2fa7b3912da25a12222ef70a1
4	1	2	482	\\x28b52ffd60e30065080006943c22406b9c037b59baab7e7b5a0df4d25daecebd61536ab16e02795920e657920caf6b4c31003200320009bdef9b89a0abc7285abe578f134778e8e7284c0dbf6fc80ce9ea0488aee62a6c20d1c5d8729afabdf47084fd38f10d018ab2124699d2fdbe670462142d517a3a46be627b8406c944938bc2a9bd96a5f1d2e3401677274b490e5566f93d94305d5d33ad21128670df1f3434b5c1d5f57b9820bdab3757e09285ef196fe237ec617cdc5c9d71dcc934377e6d69c2f162966c6b39028dcccc747ba888cee31c5ce98223e3c56e161c2140a3716507889da599ef6174f544b2a6df07380a86297afab9bae21085f59a15070049b4d3305aacc1221536eba5d7fd00857678deb907
4	3	10	2247	\\x28b52ffd60ce07051300f6256e250071ac038e395b9169a41c096308f2924d5f7107fce8b89145822ad1171e9d2cf8ffbb2a985e0065006500b0b95d2492075c9cc3e12c7017b23c108773b0697f9f553dbb6b6dc6bf2f44e7d99b52c9df374a8cba7c76e68db1e2bfb754f1d6b34373d7fb328ca8b347b177f2f7a5c0e6b34b38eeb9f69e2602e296a6590a5c737fa726d8bc93ec6b04d3597be7c8b4cd197c5697abb3a72168adb906d2bc73a4e524a5b34757d80cb0f178de3932a96c582be8ace2cd503a3b4b124ecebe9409a378f68d9356dc3d080f41826b0b0e0584a6c1117ce29d33d66242893a6bde578266253973bc5f4c9c4630699227ef6f59d90ac63347a16565cf1e0b96d0a2735250d5a24cd9bdccbc1186d986cd0cc30bd1c95411a755066aea01869a9a5954d5cbebf1f79df2a1d25af7ec5b2b49c209e401791ad71cd084d344e39953f12836ac91194a856705058d83bc27480766880a0c1b8fc64dbccf0aa2e93c6b4d7340dcb79ab2278dcbb29a52c9dca8176bb92a72b20c16854aab9962d04aadb7109d6ba35e93aeaea8aee8e2964b92e0da9d32825692b0614a382de7ef13ad0dd04a128c67177056cbca2e031770b0168de20aacb8ac881f3c2060221919c33ab6f3fb611650313908e4de80842fa03e0fcebe3519ad0409a09ad952769573a60d206f4921b6da2cec05c687a25c65a01e8c1c7c6f6d2c9e745ae06812f14608c9f58831f4d42e00be0ba90505bd2bd54dd1db2fa068289f39636bebb9dde57049e943b5a761944508d105d5e3f259b2796b41d80c47bd653a6446ce4aeda081463318d91f8276b80c7017801ed5408008fe688e9c7649e845e41d0214
5	1	2	482	\\x28b52ffd60e30075080006143d234069ac033b2bc612fc47acc3882a2404884ff005945e16b8412009e211738701c14e04310033003100cb81df777c9ca7cfe759be4f9f114f6968c820442dbf6fc90ce8e90489aeae7d6c4051c59872baf47ba8e129bb61e61702ef29252a7bddf0fb28309f679950d373f213db1f70d325bea72411411482c145c5451395b4f5d453105566eb7bc7113d1d5901ad1d147670df37da89dae0e9fabd7440f0e9cd153825e17b068cf80b7b39212b9e1e1df78acd8d61538a70ace2b29a5a908fb5d65a6e2f13936998c6932e7832e06cc582a704783caecce030b374fc5e3e4f472cd6f4fb0026a1103d4d374f7f2e415050a102070049b4d3305aacc1221536eba5d7fd00857678deb907
5	3	6	846	\\x28b52ffd6051023d0900c6923a24306d9c0303746c2963fcf6cc60236c4264737382864b5210b6a13f89187f208686a82a382e002e003200fb1955cdd4d7a3e4803d37743cbeee78262b7ccf0b70f6d711185d65fbda41a3496b4942997eff90e06c96a0f988ce254b7b9c243aca248cc25ef21aa70a1bfb5e56d4d71d63f2f99ee324bf3ea7c9f99e1fc881e2fe7a373f4fd50fcd9013342155c5afc61fa6a81bd7a778cb42d980135034025d9eb06f083348183dbeda9ea3282be7cbed1ba0a24e7caf616291c734a1cf35fb0554d06d0001a52f896743fa8bed9b4171575f4b6b0b634c5bd3f6cd989004455fcaa4e06c808892d807130060234b9a2412c8110c8f5b80da5616b1094db7f221db4dc3a0191a4d37644f2668c162207101345866820aebcfe4c86a97848288bcc38402
6	1	2	482	\\x28b52ffd60e3006d080006d43c2330895807c3b42a6905fcb37fc304a4d4e71637c43840ca37101544449454054530a0023000320032000c8adf371341579f51b47caf3e279eb2d0d1694c2dbf6fc90ae9ea045057d9c236f074b5b61265fabdf4f094fd38f38e10aec76883ddf17b466046d132a5a7e7e4abb63f604f419a071b3db8b71e37b8541165298dc005df41951bfb1e624c57872cce195e3324df2f1a9adae0eafabd6448f1ea2e29481ec2f78a38f11d7b3923375767126ec6343b8e6e2992f06216e6d672080fc61863c95e22a6f3388b2b4df054c4d94d82a704783caead00b1b334f3bd8cae8eb0e6f4fb00079130454f3f578789d258b15901070049b4d3305aacc1221536eba5d7fd00857678deb907
6	3	6	846	\\x28b52ffd60510225090056523924308b380743cbffaaa5dd773718e41b08e75711e7becd00846ba87e79660e4b48418101152d002c0032008f51d54c3dff400ed8733f48e4798813f9f13d2bbcd8cf23385d5debd84153853125a14bbf8f482f364b50fc434a7bcc29aa4ca334cc38c5b545f5b1f53daca8e7dd5ad0f99e9f093e1fa7c9f13d3b5003c5fd7c373b4ed5df13141f553dcfc663bfa871750ac72c740d2c020a46a0cc13f62de105f8a2c893ed397a60e5782e7b86d51ae6d1dc4317440b13e7128986b5fd022ae8367078d273ed9b21716c493f29eeea8960d65aca5a8424287a2222f562034c9a86ed9b010314005fd3499a2412c8110c8e5b00b1ad38aa0956b7dda1db4d43d00c159809dc75430165821a2c461217c8836526a8b0fe4c8eac76492888c83b4c28
\.


--
-- Data for Name: run; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.run (id, node, run, began, pruned) FROM stdin;
1	cn001	01a22389-8b54-757b-b1d9-3735f5b800ca	1795892546000	f
2	cn001	01a22389-8d26-74f6-bce0-ead09041b310	1795892546000	f
3	cn001	01a22389-8e45-7531-b8f9-fc9bea4cad12	1795892547000	f
4	cn002	01a22389-8eea-7332-a4bb-e20a9b0f507f	1795892547000	f
5	cn003	01a22389-9047-72bd-bc15-33d7899db24a	1795892547000	f
6	cn009	01a22389-95e7-7522-91a8-8432f98f5780	1795892549000	f
\.


--
-- Data for Name: step; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.step (node, script, ms, cause, since, run, usual) FROM stdin;
cn001	once	7	\N	1	1	\N
cn001	change	42	\N	1	2	16
cn001	fetch	31	\N	1	3	163
cn001	last	9	\N	1	3	8
cn002	change	30	\N	1	4	\N
cn002	fails	28	exit	1	4	\N
cn002	fetch	94	\N	1	4	\N
cn002	once	19	\N	1	4	\N
cn003	fetch	64	\N	1	5	\N
cn003	slow	115	\N	1	5	\N
cn009	fetch	177	\N	1	6	\N
cn009	last	14	\N	1	6	\N
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
\\x329e5086dc79fadcb44db5a9c5a21c2ab34c678eac4ce6c9af903bb909ddcd1b	cn001	\N	\N
\\x5fccbbab368cc1f381a513b013b319df3eda61c897598ec80abd6085e443c0c9	cn002	\N	\N
\\xf003363546a676168b3352f78f74fbe0b82904303ba0089eb9499955b813b856	cn003	\N	\N
\\x3579cc6ac676a7adba18ce3676d37551134d2a050dbe83e68eb9f4df4aa51d0b	cn008	\N	\N
\.


--
-- Data for Name: version; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.version (number) FROM stdin;
15
\.


--
-- Data for Name: watch; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.watch (at) FROM stdin;
2026-11-28 19:02:29.661479+00
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
-- Name: job_node job_node_pkey; Type: CONSTRAINT; Schema: provost; Owner: -
--

ALTER TABLE ONLY provost.job_node
    ADD CONSTRAINT job_node_pkey PRIMARY KEY (job, node);


--
-- Name: job job_pkey; Type: CONSTRAINT; Schema: provost; Owner: -
--

ALTER TABLE ONLY provost.job
    ADD CONSTRAINT job_pkey PRIMARY KEY (id);


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
-- Name: job_began; Type: INDEX; Schema: provost; Owner: -
--

CREATE INDEX job_began ON provost.job USING btree (began);


--
-- Name: job_running; Type: INDEX; Schema: provost; Owner: -
--

CREATE INDEX job_running ON provost.job USING btree (id) WHERE ((ended IS NULL) AND (interrupted IS NULL));


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


