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
lee	read	\\xf409936b341192892fa18c45bfc34dc0148066b76431af33cc63e21d6979c161	1795894434000	1796894434000
\.


--
-- Data for Name: audit; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.audit (id, at, who, source, action, request, result) FROM stdin;
1	1795894433942	root	admin.sock	token	{"force":true,"missing":false,"nodes":"cn001"}	done
2	1795894433965	root	admin.sock	token	{"force":true,"missing":false,"nodes":"cn002"}	done
3	1795894433982	root	admin.sock	token	{"force":true,"missing":false,"nodes":"cn003"}	done
4	1795894434818	root	admin.sock	token	{"force":true,"nodes":"cn004"}	done
5	1795894434838	root	admin.sock	token	{"nodes":"cn008"}	done
6	1795894434855	root	admin.sock	release	{"nodes":"cn002"}	done
7	1795894434871	root	admin.sock	remove	{"nodes":"cn004"}	done
8	1795894434894	root	admin.sock	revoke	{"nodes":"cn006"}	refused: no node was revoked: unknown cn006
9	1795894434910	root	admin.sock	admin add	{"forMs":1000000000,"name":"lee","role":"read"}	done
10	1795894434927	root	admin.sock	admin add	{"forMs":60000,"name":"kim","role":"operate"}	done
11	1795894434944	root	admin.sock	admin remove	{"name":"kim"}	done
12	1795894435098	root	admin.sock	join	{"forMs":1800000,"nodes":"cn009"}	done
13	1795894435278	root	admin.sock	join	{"forMs":3600000,"nodes":"cn005"}	done
14	1795894435383	root	admin.sock	approve	{"node":"cn006"}	done
15	1795894435422	root	admin.sock	enroll open	{"forMs":3600000,"nodes":"cn007"}	done
16	1795894435449	root	admin.sock	enroll close	{}	done
\.


--
-- Data for Name: enrolment_join; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.enrolment_join (node, sha256, since, until, origin, spent) FROM stdin;
cn009	\\x94862a73ad894b6fd43a796a79f8f23631102b9021584e9224fbd318dbff7fca	1795894435000	1795896235000	\N	1795894435168
cn005	\\x68cfc9ba7b08457bdd9fc956555333e61c2fdbf226a5e71adae108fb5655bfa7	1795894435000	1795898035000	\N	1795894435311
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
60	1795894380000	0	0	0		{"defined":8}
3600	1795892400000	0	0	0		{"defined":8}
\.


--
-- Data for Name: history_part; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.history_part (id, at, began, succeeded, failed, boots) FROM stdin;
1	1795894380000	1	0	0	
2	1795894380000	0	1	0	83:1
3	1795894380000	1	0	0	
4	1795894380000	0	1	0	
5	1795894380000	1	0	0	
6	1795894380000	0	1	0	68:1
7	1795894380000	1	0	0	
8	1795894380000	0	0	1	
9	1795894380000	1	0	0	
10	1795894380000	0	1	0	104:1
11	1795894380000	1	0	0	
12	1795894380000	0	1	0	85:1
\.


--
-- Data for Name: identity; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.identity (key, node, since, until, revoked) FROM stdin;
\\x9b481c9718ce956b961e9aabb5ea4b0eb061029f663a73ac4c3dbe7cae93ef3f	cn009	1795894435168	1798486435000	\N
\\xc76fd8a3c14b86bed60c778fd93ac92617e85a94b6dc6f886d427b099c63d52a	cn005	1795894435311	1798486435000	\N
\\x29a4f6fa397820278e88fd588e564565c313c2b60620eee0e280a5b4ba50c6f1	cn006	1795894435000	1798486435000	\N
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
cn002	01a223a6-59ee-760c-811a-819d194cfa5f	03-fails	2026-11-28 19:33:54.36928+00	f	\\x323032362d31312d32385431393a33333a35342e3334305a207374646f757420462073657474696e672075700a323032362d31312d32385431393a33333a35342e3334315a20657865632046203332333430203332333339207368202d6320276563686f206e6f206469736b203e26323b20657869742037270a323032362d31312d32385431393a33333a35342e3334325a207374646572722046206e6f206469736b0a323032362d31312d32385431393a33333a35342e3334325a20657869742046203332333430203720316d730a
\.


--
-- Data for Name: node; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.node (name, state, due) FROM stdin;
cn001	{"name":"cn001","status":"booted","since":"2026-11-28T19:33:54Z","updatestatus":"synced","lastSeen":"2026-11-28T19:33:54Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a223a6-5996-7301-bf6f-1b51cacf473c","seq":10,"attempt":1,"ended":"success","steps":3,"heard":"2026-11-28T19:33:54Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerun":{"service":"run","run":"01a223a6-593f-715e-a16e-04afb9c0e273","seq":6,"ended":"success","steps":1,"heard":"2026-11-28T19:33:54Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1,"keys":["0456212316008817"]},"server":"http://127.0.0.1:34975","program":"0.2.0","facts":{"arch":"x86_64","cpus":"2","kernel":"6.18.44-fc-v769","memoryMiB":"24105","os":"debian 12"},"plainHttp":true,"records":{"hour":498859,"inHour":5852,"all":5852,"recordsInHour":26,"runsInHour":3}}	\N
cn003	{"name":"cn003","status":"booted","since":"2026-11-28T19:33:54Z","lastSeen":"2026-11-28T19:33:54Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a223a6-5a57-70fa-838c-bee2cf750a6f","seq":6,"attempt":1,"ended":"success","steps":1,"heard":"2026-11-28T19:33:54Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1,"keys":["0456212316008817"]},"server":"http://127.0.0.1:34975","program":"0.2.0","facts":{"arch":"x86_64","cpus":"2","kernel":"6.18.44-fc-v769","memoryMiB":"24105","os":"debian 12"},"plainHttp":true,"records":{"hour":498859,"inHour":1362,"all":1362,"recordsInHour":6,"runsInHour":1}}	\N
cn002	{"name":"cn002","status":"failed","since":"2026-11-28T19:33:54Z","lastSeen":"2026-11-28T19:33:54Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a223a6-59ee-760c-811a-819d194cfa5f","seq":10,"attempt":1,"failure":{"step":{"stage":"fails","args":[]},"cause":"exit","exitCode":7,"errorLine":"4 setup /tmp/.tmpvPoJdn/nodes/cn002/state/bundle/fails","calledFrom":"7 main /tmp/.tmpvPoJdn/nodes/cn002/state/bundle/fails","errorMessage":"setting up\\nno disk","command":"sh -c 'echo no disk >&2; exit 7'","hint":"see all its output on the node: provost log fails; fix it, then: provost boot --continue"},"ended":"failure","steps":4,"heard":"2026-11-28T19:33:54Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[],"released":"2026-11-28T19:33:54.858253141Z"},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1,"keys":["0456212316008817"]},"server":"http://127.0.0.1:34975","program":"0.2.0","facts":{"arch":"x86_64","cpus":"2","kernel":"6.18.44-fc-v769","memoryMiB":"24105","os":"debian 12"},"plainHttp":true,"records":{"hour":498859,"inHour":2759,"all":2759,"recordsInHour":10,"runsInHour":1}}	\N
cn005	{"name":"cn005","status":"defined","since":"2026-11-28T19:33:55.311496572Z","reported":false,"kickstarted":false,"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":0,"plan":0},"plainHttp":false,"records":{"hour":0,"inHour":0,"all":0,"recordsInHour":0,"runsInHour":0}}	\N
cn006	{"name":"cn006","status":"defined","since":"2026-11-28T19:33:55Z","reported":false,"kickstarted":false,"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":0,"plan":0},"plainHttp":false,"records":{"hour":0,"inHour":0,"all":0,"recordsInHour":0,"runsInHour":0}}	\N
cn008	{"name":"cn008","status":"defined","since":"2026-11-28T19:33:54Z","reported":false,"kickstarted":false,"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":0,"plan":0},"plainHttp":false,"records":{"hour":0,"inHour":0,"all":0,"recordsInHour":0,"runsInHour":0}}	\N
cn009	{"name":"cn009","status":"booted","since":"2026-11-28T19:33:55Z","lastSeen":"2026-11-28T19:33:55Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a223a6-5d40-70b4-9fdb-2a6600e59059","seq":6,"attempt":1,"ended":"success","steps":1,"heard":"2026-11-28T19:33:55Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1,"keys":["0456212316008817"]},"server":"http://127.0.0.1:40977","program":"0.2.0","facts":{"arch":"x86_64","cpus":"2","kernel":"6.18.44-fc-v769","memoryMiB":"24105","os":"debian 12"},"plainHttp":false,"records":{"hour":498859,"inHour":1359,"all":1359,"recordsInHour":6,"runsInHour":1}}	\N
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
1	1	2	482	\\x28b52ffd60e3006d080006d43c2330895807c3b456214a81c7f90d131252995bdc10e30031609fe89d89e05003231856013100330031002c8ad7b394a2abb72435d7abf7b43d0b1c9fc6c4f37a9e9b585c9de0258a20cab481c5add61674cc5dbf80b627434fdf110cb316e91ac31caf97022d494d2f20eedeaba63f880a7c8a64148461b91837bb9ca4296be5922cb88873dbd8f51163ba7a6301ef19966680d72b389ad8e0eaeefac958c4ab3f58001784eb1371da3bf4b3e33a5797709949deb7f12d97c05db2616f35480fc61863503f0ffd408fe2ca21b613b1d9416c4f80c7e3ae15a27d1a96d74fe9ea096bcf5d1ff01c12260962e8ea0c541a2b3a2b070049b4d3305aacc1221536eba5d7fd00857678deb907
1	3	10	1765	\\x28b52ffd60ec056d0c0086574623306bd50683eb9f43e776de5bbb8d10a6cd8eced4d221b8ae6d1291fe8381c12012a50239003d003c0067272d58dcc777b373577fff1c57b3753c4471c09ebb458fe323f718e17b6eb4d7c71b28cb26c93e5ae03044156158b2ef1f537bcd93f4ee1007fb6ee004aa391e47ddb303a22ec631d92bb886511ae8699287212499d11084451ba441ce82302d61ac697e4f5dd6f19a49b9ef19aaa8e35f5531be0147e559ed35c0c3c3f6ada02ae935eb828e8bbf6e8ee3b941b5c81dcf8eaa96e6519255442212d1304d24f6f15ef4bdc58b37ea38998c264c19b328f90fcc929afa384cf351d481a8364d953b368b47ee35cb75a261b523b3387b0169a09b80a14dc7895f37f431f7adb0b8afa3b264265347f7ad78d2243902292070229160106f5f9131b998291a8ca1d105b4f3ae19675950af52089a28e8dd999e14b311008b88e3e48c4daae3c0f5e192e843b44ac32805a13f08bac7c573327569816ba3026b2f9db22074523068a0d126209b45d09b9381ed028833a686853d0c1922fae0d4bb24f45ae4c50214
2	1	2	468	\\x28b52ffd60d50025080036933a2340895607b85b28d118cddec402bd1021407cc217507a59e01abf4963bb138be2602702300030002f00f0fb8ed0f3f4c7117d9f3e239eb2d0b079442dbf6fc98bc6d3099ab249b26f0d20985a4b39a6ecfb86c353b6d3cc430271d1a696e43d85886cbd6ef87d149810b43cadfd417260adf02d0c3755ed16ab56d64131c95394e384315efa4d5faa4f0a32aa35036219dcf78c7ea236783afb5e3a1af0e9cd153804c2f70b18f1217b3921334f8f8e5b637363d814531cab115555757b99988dd3309e9882e702ce66143c25402472b60a0f374bc7ef25f474455763df073489840872da79fa738747070078b3d3c859acc1221b29fbd24fb817676b3cef8402
2	3	6	928	\\x28b52ffd60a302750a002655402340699d0373774624b4c0ba34d3925f4105dd7ca1fd6508aedb689344c5575c15016944340035003800ebdd0c61d5df4fa96a965f7f2207ecb91fe4f83a042733bee7c69bfd75834459e7d661054d43184396a6ed7bc7f466f314cd33048bed597a62b5f872fb04c73456e82c182f518417f610561883309ca320cb73ad3da6df75a61ae1f7fc50f1ebb192df338c1424f7030dd0e0d8be13918ae693d5f3a53837e283a0c238895b76d0831e98c6108875cc097d2f597186358deac25c636d5112fdc1be1f8c109fe4780dcd2dba38cd5e201ae82658785327269efde82fdd774272575f4d3ff14d1305bf14c52543934234e4fb52d5c69a194d91f4954cf96619005d230b3a271218130cbe5b0016b6541e2bc8e9b2cddf168de6dd71df34ccd110bf9a78985dcc198b42d3045559144a644053d6cc10c20e36323c98c15977fd844610a7d8bcc3dc03
3	1	2	482	\\x28b52ffd60e30075080006143d2330895807c3b45621ea81c7f90d1390529f5bdc10e3002974c1afc56650aa82221850013100330032000c92d733134157ef285aae57ef697b16583a8d89e7f53c57215d9de0258a201adb80e2566b0b3ae6ae979eedc98fd37704312e85712d32cbeb19818ea2a5a587bbf7aae90f2472788d5cd992a5ad0636cb6a0c392c1863b2e022ce6d63d7438ce9ea8d05ef19946680d72f189ad8e0eaeefac990e4d51f2c800ac2f50a39ed1dfad9729bab33709931bc6fe55b2e81bb9885bdb520010fc61863503f11ed3ccee2ca25b615b2b9496c4f80c7e3ae15a0751666ae9fd1d513d69ebb3ec041244cd1c3cfd5233c34966c56070049b4d3305aacc1221536eba5d7fd00857678deb907
3	3	10	1727	\\x28b52ffd60c6050d0d0036594b23206baa0e67cb1185866955c23141ae86a40a74484468ddf71bd9bd9900d115008760113d0042004200af92b4f89ee55ca0b8cfdecd5256fd7d85aa66eaec0ee5b5e78ecf74f64756667ccf8d58fbec0748b2106ee30c9877387728afbdefa728d6e668d63b044c6b8a83cf3d2541da11f6ddc0093442d399db33e4d06a7106f70a122e084346e992853b180a6371b8069743699ae450227c2fbaf63dada8b3bbd6a8fc9e1d899e052b60516931959cef1d9ea699d0670952a9581be02171fb26a0d2ac91aa9c33c56b47e8ecdca0f191676749a5646910b80ed1100db13c9748ec54ebf33dc58a2f8e090fcb6b8e4120b3179803dd050c313a8bb876439fb57d1350dcd5196c5a6bcf317546133a63662f67757c5683cea74a74b145f147d648c94e34a878a6aca615b5ea0c26201014224092e301dfc898109414e7c5d058015a5f16f0089c4bf9106f69d07e00df8f425fcb0798291a2b00083b44614cd7564212fa50a869185c10d252a8b25882eb35403d40155a749134236b530851f4da0414b204bd29195817401c9a1a10f6706488e883137749c8b5c88b5d28
4	1	2	482	\\x28b52ffd60e3005d080006543c2230895807c3b42a6905beb17fc3848454e61637c438400a5df06bb11994aaa0080654310032003100eb89dfb79ccfd3eb9ccbf7e935e24a0b1d9b46d4f4fba6ac809e4ee0924590856c40698a31f5da6adf430e57da4e53ef08102a453606bbe3f752a0ceb954c8e95af989ed0f988499e8209390298a1953545cefa0ba61a21e23ad315bdf3f8ce8e96d05ce19146678df2ffa89dae0e9ed7bca80e2d3dd2b780ac2f78a18f11d7b5a23334f978f7bc966c7d1a9963c5672594e2d488fb5d65a6f4f11b5719ac5534b7055c4da4c822b05783cde58e1e16669f93d9d4f4f1673edfb800691104da79da7c37768a8c8a8070049b4d3305aacc1221536eba5d7fd00857678deb907
4	3	10	2277	\\x28b52ffd60ec0795130066e77125006faa0e8e1f5ac9b732ae8e2139e536bcd331e4dfbc030a3fdf830b6db62b0a555588181e63006800690031221d9017411ea4c4f72045bac7a3ec421ce5111b8689cf1d9e5ed6db19e7a83cfc4695bebd6b9d38fcca69612dbf9d79a5bcf8f03d5dbcd6db23ba0c7e394ad5db25d91b39fc4a62f3db1f1c0e6c1a08790e10a3bca73c18c71cbea262f352b38f116fd6f2f5d638ce39e6410f9e177a52737a73b4159b01321c069e17689d1dad2b7a9378739cdeced38c91b7af844649be7d25adce037134f0355cc3351ee62d0bacbaa5c35b2bf1e74190738fd7308f79380e770878be580a1aa7eaedc1ef14d16be2ad81af88380157946f8f41cfc9be41287846ac521a515d4c4267f732f32e2ccb766c5e16dea8d285460895c1a2a2bab154542facba7a99390ebf742a58d5b2f6ed6b5dd38c1188691cc4715044234555f9f6485c921d2dc98bc48a6f0fc681e00b660273c324526f0e9e17a86dbee0198d03014faf86aef4cd3dd73cbe179d4dab5414d6b54ed0959ab59e6c32236c8049eac49aab45b52a0637aa94add48c56d657d55765dc934d5364bb744ad14e331ed01929f61c9eaad641b4d314e5db051ed673b26c80092060ac4a7205985498c4877fcfc9063d2060221921bb3ab3f3fb211650213b0822df00842fa03e0fcebe0918ad5c08a09ad952b6dd73a60d206f47015bdd2cec85e34349ae315e0fca1e7c9036164e362d789d447a2364727dda187aab0b7edd85d48042de15eaa6d8ed1750443cce9cb149351cec7ab824e843b4a7619444e89005cde3e2d964f26ba1d60c37bd353ac987e04fc3a0058d7619d97004fdb90c701780406e605084c32143041c9c739784ac455e2c4001
5	1	2	482	\\x28b52ffd60e3006d080006d43c2330895807c3b42a6935d8b37fc3848454e61637c438400cd8275a9989e05003231856013100330031001ac1ef3b4ad1d5a72435dfabcf89a72c347c1a53cbef5b7262717502972c822cc30696b6185baf69fb7e01f1940d3df38e0cb396d818d30dbf8f0253929ab9807a4ebe62fb03e7b1268a035b77b3e0822c8b1d55969270b21e23ad31d3ef23c674754403ce19166678df2b3a9adae0eaed7bc958c0abbb57f01684ef1370e23bf6724276ae1e1fb7c666c7d0ad963c5eb151b71a240f55557d7b79980ff428ae1a826702ce76103c25c0e3f1c60a113f4dc7efa574f544996bdf073c878449821aba3af394c682ce0a070049b4d3305aacc1221536eba5d7fd00857678deb907
5	3	6	880	\\x28b52ffd607302c5090056143e23306b9d0383b86ea7f7bef7ac7af9f5549d3b286b872bc9ecfbbb57a4ff6060308844a9320033003600cd5256fdfd7caa66eaeb4cc4017beee898beee90939bef1921cefeba41f2d6b955b002d810c610a569fb7e82e26c869c79876eafd02851dfd2c8c6dc40247410898d2ec8f2e24394e85a8b4cbf8f2aeaeb4e3592df3323455f9f92d4f89ea5b340717fbd0391aa982fc619a4a7dfa248dc32842214b1349648ec34a7e37b8a195f1884aa0a738d35e525fa837d3f38218acff4c5f6fc3051d5f80a0ff029c9837b0167a09ba021425fbaef05c4b31ffd4571575fb0b1a7aa8d41b6efc57420e7f94a261567033cb8b6ef45243933140060d349aa251250120c8f5b80b6adb8c0158e6ee543d89b86413334da62914d9aa0278b81c4051065cd0c21ec61234384199c759784428bbcd88402
6	1	2	482	\\x28b52ffd60e30065080006943c2340895607b85b28d118cddec402419614293ee10b28bdec23adbfa5b1dd894571b01301310032003100fac0ef3b42cfd3270431dfa7cf88a72c346c1e51cbef5bf2a2f1740245d924d9b70616a6d6528e29fbbee1f094ed34f390efa925b2f5bae1f751604210331b4ecfc94f6b7ff0147d4aab3ac74c3131f15463f4a0b44545394e18e3a5df3f8ee8e94f03ad19966570df33fa89dae0e9ec7be968c0a73757e01684ef1730e243f672424e3c3d3a6e8dcd8d61534c71ac22a34d3149115555757b89988dd3309e9882e702ce4e28784a8048e46c151e6e988edf4be8e98aaec6be0f68100911e4b4f3f4e70e0f05132a070049b4d3305aacc1221536eba5d7fd00857678deb907
6	3	6	877	\\x28b52ffd607002bd090096943e23306b9d038396b7e9bdef3d6b956e9fba73879e5a3a08b6c7c74d12f50742c240214505330034003600ddec38577f3fa3abd93afb3371c09e5b2eaab32f9cc98aef1941ce3ebbc17b8b20bbb482e88ed60ee8d47d5f4972364bd07c4367c85e6179ba3c568550baa37914cb9134aa1c9a3cef8012714e36fd7ebaacb32faa93f33d3fd474f64951cdf7ec400b16f7d9031434a5753d6789cf9691a22c9a6c3be8410f8a6b08c456732ebeb73871a5c5a80a1be29a832fd11fec9bc109938caab3b6e7e899ae260d04c21861dc0b4003dd040c523ad37d3312cf66f499db3763715f67c95355d762db373321098ace9269c9d9000df7f6cd4c0113005e234b9a251248120c8d5b00595b59e8561684bd29183443a32d16d9a4097ab218485c0051d6cc10c21e36324498c159774928b4c88b4d28
\.


--
-- Data for Name: run; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.run (id, node, run, began, pruned) FROM stdin;
1	cn001	01a223a6-58da-715f-abe0-de9379d7467c	1795894434000	f
2	cn001	01a223a6-593f-715e-a16e-04afb9c0e273	1795894434000	f
3	cn001	01a223a6-5996-7301-bf6f-1b51cacf473c	1795894434000	f
4	cn002	01a223a6-59ee-760c-811a-819d194cfa5f	1795894434000	f
5	cn003	01a223a6-5a57-70fa-838c-bee2cf750a6f	1795894434000	f
6	cn009	01a223a6-5d40-70b4-9fdb-2a6600e59059	1795894435000	f
\.


--
-- Data for Name: step; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.step (node, script, ms, cause, since, run, usual) FROM stdin;
cn001	once	4	\N	1	1	\N
cn001	change	8	\N	1	2	8
cn001	fetch	15	\N	1	3	25
cn001	last	3	\N	1	3	1
cn002	change	8	\N	1	4	\N
cn002	fails	6	exit	1	4	\N
cn002	fetch	25	\N	1	4	\N
cn002	once	3	\N	1	4	\N
cn003	fetch	23	\N	1	5	\N
cn003	slow	128	\N	1	5	\N
cn009	fetch	52	\N	1	6	\N
cn009	last	4	\N	1	6	\N
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
\\x20d83c356f39a69c9f3c3bcb02df17073c4a072ffb4b7b98a557d9891c3974c5	cn001	\N	\N
\\x7613e4f1c554b280b6d1aa0b8a90df0dd1111821520efb10e3e05f71b7e210bd	cn002	\N	\N
\\x545417885615a70741b1ccc3c437273b200a4a6765e0dd6e2c9a20c71b8102d9	cn003	\N	\N
\\x473853ff9b8878fb307b3ab2f3781a285ec9b5ed6d73ec1e35d566df3c5fb445	cn008	\N	\N
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
2026-11-28 19:33:54.064891+00
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


