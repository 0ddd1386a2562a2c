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
    run bigint NOT NULL
)
WITH (fillfactor='50');


--
-- Name: storm; Type: TABLE; Schema: provost; Owner: -
--

CREATE TABLE provost.storm (
    began bigint NOT NULL
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
lee	read	\\x1fcb511e9abe563396e6a4eb208cd98b45c136367f3e39416457a3281275165e	1795838535000	1796838535000
\.


--
-- Data for Name: audit; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.audit (id, at, who, source, action, request, result) FROM stdin;
1	1795838534112	root	admin.sock	token	{"force":true,"missing":false,"nodes":"cn001"}	done
2	1795838534127	root	admin.sock	token	{"force":true,"missing":false,"nodes":"cn002"}	done
3	1795838534149	root	admin.sock	token	{"force":true,"missing":false,"nodes":"cn003"}	done
4	1795838535067	root	admin.sock	token	{"force":true,"nodes":"cn004"}	done
5	1795838535088	root	admin.sock	token	{"nodes":"cn008"}	done
6	1795838535127	root	admin.sock	release	{"nodes":"cn002"}	done
7	1795838535155	root	admin.sock	remove	{"nodes":"cn004"}	done
8	1795838535189	root	admin.sock	revoke	{"nodes":"cn006"}	refused: no node was revoked: unknown cn006
9	1795838535214	root	admin.sock	admin add	{"forMs":1000000000,"name":"lee","role":"read"}	done
10	1795838535235	root	admin.sock	admin add	{"forMs":60000,"name":"kim","role":"operate"}	done
11	1795838535256	root	admin.sock	admin remove	{"name":"kim"}	done
12	1795838535390	root	admin.sock	join	{"forMs":1800000,"nodes":"cn009"}	done
13	1795838535566	root	admin.sock	join	{"forMs":3600000,"nodes":"cn005"}	done
14	1795838535682	root	admin.sock	approve	{"node":"cn006"}	done
15	1795838535742	root	admin.sock	enroll open	{"forMs":3600000,"nodes":"cn007"}	done
16	1795838535784	root	admin.sock	enroll close	{}	done
\.


--
-- Data for Name: enrolment_join; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.enrolment_join (node, sha256, until, origin, spent) FROM stdin;
cn009	\\x9d4b47954f123119ae2f584d33a2bf6d434c5aadc06a6cee85e36b847e178198	1795840335000	\N	1795838535451
cn005	\\xa4858c161a2f339262040c29ee75743c28cb31633779c3478dd7a8a28afc85c4	1795842135000	\N	1795838535599
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
-- Data for Name: identity; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.identity (key, node, since, until, revoked) FROM stdin;
\\x8892a410d70ae1b2513d73f5faa6becd6f1d52a99fdc0765545e9a0e603c148a	cn009	1795838535451	1798430535000	\N
\\x6ce5c7871d9f594ddab44d5ef7c11804d5a514c4c474decf20b7e7eb1ceb5c78	cn005	1795838535599	1798430535000	\N
\\x4838f3f79afc3d2f19118e1dbb75c1c6fec28eb511c3e480157aa1829ea44ebb	cn006	1795838535000	1798430535000	\N
\.


--
-- Data for Name: log; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.log (node, run, name, at, bytes) FROM stdin;
cn002	01a22051-632b-7004-8fe4-e284ae5872d4	03-fails	2026-11-28 04:02:14.546082+00	\\x323032362d31312d32385430343a30323a31342e3531385a207374646f757420462073657474696e672075700a323032362d31312d32385430343a30323a31342e3532305a20657865632046203135353534203135353533207368202d6320276563686f206e6f206469736b203e26323b20657869742037270a323032362d31312d32385430343a30323a31342e3532315a207374646572722046206e6f206469736b0a323032362d31312d32385430343a30323a31342e3532325a20657869742046203135353534203720316d730a
\.


--
-- Data for Name: node; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.node (name, state, due) FROM stdin;
cn001	{"name":"cn001","status":"booted","since":"2026-11-28T04:02:14Z","updatestatus":"synced","lastSeen":"2026-11-28T04:02:14Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a22051-62cc-727f-ba34-f7a29ff0b471","seq":10,"attempt":1,"ended":"success","heard":"2026-11-28T04:02:14Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerun":{"service":"run","run":"01a22051-6279-74a9-abed-31439930764b","seq":6,"ended":"success","heard":"2026-11-28T04:02:14Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1,"keys":["49F4E4909487F01F"]},"program":"0.1.0","plainHttp":true,"records":{"hour":498844,"inHour":5448,"all":5448,"recordsInHour":26,"runsInHour":3}}	\N
cn003	{"name":"cn003","status":"booted","since":"2026-11-28T04:02:14Z","lastSeen":"2026-11-28T04:02:14Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a22051-63ac-7399-8cc4-720f3cbac1ef","seq":6,"attempt":1,"ended":"success","heard":"2026-11-28T04:02:14Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1,"keys":["49F4E4909487F01F"]},"program":"0.1.0","plainHttp":true,"records":{"hour":498844,"inHour":1227,"all":1227,"recordsInHour":6,"runsInHour":1}}	\N
cn002	{"name":"cn002","status":"failed","since":"2026-11-28T04:02:14Z","lastSeen":"2026-11-28T04:02:14Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a22051-632b-7004-8fe4-e284ae5872d4","seq":10,"attempt":1,"failure":{"step":{"stage":"fails","args":[]},"cause":"exit","exitCode":7,"errorLine":"4 setup /tmp/.tmpmIMugI/nodes/cn002/state/bundle/fails","calledFrom":"7 main /tmp/.tmpmIMugI/nodes/cn002/state/bundle/fails","errorMessage":"setting up\\nno disk","command":"sh -c 'echo no disk >&2; exit 7'","hint":"see all its output on the node: provost log fails; fix it, then: provost boot --continue"},"ended":"failure","heard":"2026-11-28T04:02:14Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[],"released":"2026-11-28T04:02:15.13239023Z"},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1,"keys":["49F4E4909487F01F"]},"program":"0.1.0","plainHttp":true,"records":{"hour":498844,"inHour":2624,"all":2624,"recordsInHour":10,"runsInHour":1}}	\N
cn008	{"name":"cn008","status":"defined","since":"2026-11-28T04:02:15Z","reported":false,"kickstarted":false,"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":0,"plan":0},"plainHttp":false,"records":{"hour":0,"inHour":0,"all":0,"recordsInHour":0,"runsInHour":0}}	\N
cn009	{"name":"cn009","status":"booted","since":"2026-11-28T04:02:15Z","lastSeen":"2026-11-28T04:02:15Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a22051-6700-762f-928f-e03bd82ef4b7","seq":6,"attempt":1,"ended":"success","heard":"2026-11-28T04:02:15Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1,"keys":["49F4E4909487F01F"]},"program":"0.1.0","plainHttp":false,"records":{"hour":498844,"inHour":1224,"all":1224,"recordsInHour":6,"runsInHour":1}}	\N
cn005	{"name":"cn005","status":"defined","since":"2026-11-28T04:02:15.599372358Z","reported":false,"kickstarted":false,"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":0,"plan":0},"plainHttp":false,"records":{"hour":0,"inHour":0,"all":0,"recordsInHour":0,"runsInHour":0}}	\N
cn006	{"name":"cn006","status":"defined","since":"2026-11-28T04:02:15Z","reported":false,"kickstarted":false,"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":0,"plan":0},"plainHttp":false,"records":{"hour":0,"inHour":0,"all":0,"recordsInHour":0,"runsInHour":0}}	\N
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
1	1	2	381	\\x28b52ffd607e000d0600b20d2a1f5049ac03c85a85e03fc0b311a4d9141746ec38ed3fb8ade45c0f523183e8c00baaaa5ab0c7815616c5e0880dad0f483f68681d01166ea823154c40562d4923592e890653ea5acee370c6b1123c7b22d04de3da595e773b5af603b88842472cd58c95aa92cbe22923d77291ab94b9ad9e9d41788ebeaa0c72f69734ccd1bb69dcd9d1fb691d031ea2243c2f9efdc576708e5e9096b1b2a40407e76e16ac7c7667691ddfa2f415020700f9b569840d6bb008889a875ef70314dae179e71e
1	3	10	1731	\\x28b52ffd60ca05b50b00b6954123406bd4067bb9366515ed2b7560c8265a5e5740e8265a2ddff8254c521a7e29e6f8f99a3400380039007d7c373b57f5f70faa9aa9e31d8903f6dc0d12391ee21e3bbee7477b7d7c02d35db92c119895a826cbcaf57d246aaf397ade21027b861ca96a1c07f60c0e75e9680c344a4b34492aac912cac249246d792a8926b35cdefa58a3a5e3325f73d3b9374fc9ba6c6f7ec9e068a038bf7440f74648f6aaf012294b5ef85343daf51957364fc75838ee787d420ee7876d2c4b84253916058930d2b608a865d61df0fbc20352872d4110d4b4d6d182695b538528ba2c91d138c43dc6b946b8107d58e0b5bcaec091e83ee03871645fcfaa18fb9ef05c55d1d55c9cca58cee3b272070221999db0d5f9131319829d60b43e30588e8801967b2a0de52085a50e8dd99f614b327008a66e1c05c2db7c60d978c3e449b348c5210fa83a07b5c3c49a68e16b0a65801d9a54b16644c0a062d349a20c8de085aa132b05c002daaa9b0b0fe728ed47649c844e41d0214
2	1	2	367	\\x28b52ffd607000d50500e24c28205049ac03c8aaa4653cc0b311e05b50352746542d44f70965e27a908a193a4f0f095555657c2810176629385a43c703129f62e8080b89b7c2586c95b24527d91277a46a65a5bab469184733dc52ce4f02a2e31c47896f702cd65439a7565299bca3d3f56ae9dab24c85ee76d2337a526d90f35fe234476f0e9ef3d1e3d311023c6441781e3cffc13e208e4eb012aff2d2016333a564ab7b3e82e9081fb3c42704070028b569500d6bb08821da433fe15e9cadf1bc130a
2	3	6	895	\\x28b52ffd608202dd090076533c24406b9c03734dd9d556c436fb8e25dd5a5e5740e8265a59befdd8dfa32afc52ccf1f335012f0031003300557f1fa7aa193e0f3d0ed873bbe8f17cf44456f89e1b2ef6f3086d2dd36d7ad0b064ad6461cabe7f502e365352fc436760b48551c57194b6940462864b1cd798c461d8922c8432e6967ef34bf53ddf33e478cfbf0a7ecf8fd400b99fefe6e709d92274b10122baf6ad780e293a5841cfc5b9f15cf42c9e589a609ae6a8d3085ac2694fd83784179e9b1ecfb5e7097a15e3a96c91a52ccb5a9afd8054d06de0e0a8a7ee5b41716c48b7027257cfd5d07314e5789e88c52147d121d080eea9aa6c3551a2a4e90118005e230b32261294120cbf5b0030ace20c8870a77be07a2f349a778779d3304743fc6ae2617631df0d8595098ab02894c8801e2c334185d5677264b5eb2708419c77f30e730f
3	1	2	381	\\x28b52ffd607e00050600b2cd291f5049ac03c85a85e03fc0b311a459692e06127117bbc07e295f0f523183e8c00baaaa6ab4c7815616c5e0680ddc07a41f3470478085af82296309b80527b992c325c150a51e699331b7d8a1e0db13816e1ad7cef2baf928b51fa4a59c42782c2f988a609770ed4a04592353a1bb9cf4ed0cc273f4a4ca206f7f49c31cbd9bc6bd1dbd1fee18f01025e179f1ed2ff2c1397a814a6db52925609b29a5b1ba6f7716eef816a5af100700f9b569840d6bb008889a875ef70314dae179e71e
3	3	10	1693	\\x28b52ffd60a405550c0046574623206dac033361a8faab11368df8829c6ee21195652bb10bf0c18cd22f8f105d017000d338003c003d000ce383c47d7d374338f5f7f3999aa5eb19c96acffd9cc7f50e9cdc7ccf8e37fb7a05c7b6ad752b41690863c8a2adf6fd037ab3198af31201ef086e90ef795cd99e1f464e8dab62efc012d7584db3b497348853bc06d2242d41206c0b8409acd61e5bdfcb49ba9ead25e1f7cc44f2fa19458def036a4635a064a45846ccf70c3f1eb1a1af026e4a6f36c0c482edfb4046713e6962ae0c9ffd9eebd9219f03af6728238633d862248a5bd6e20a1c63715fd8136d31a750f604d1a01b01e24110cf8ee8ebdaf781c43d5d15cb5aab316546283e5725b662543f47396474662495260c77e07c12ec0087f4ae0bd572920225201014430cd47adf7498cc9314c5c5d058015c7751e05ccea57c88b734687d005f44a1bfe503ac148d1700841da2304cd75e42127d28b4340c0e086959a8b228c1751aa02e40155a344d9a11ad520851f49a60146e05ad7019182e8016c85448587f2a4742bb243422f20e170a
4	1	2	381	\\x28b52ffd607e00050600b2cd291f4049b50d796ac6f379e651fa3e66c9d9ee1d70b136d2261748979ca38010880b999969ecdf40330d63f0a406ee43d26e31703f8085b3a22d4389450b5690290782042f0bf3508aad21ac1d6bf95e11e8e7411a6a5c373fa9fdc15294b5c2f16aea70b9a5e1ca64882861a02a5295557eef20444fd74c27f9de298ff3f47e1ee4fbf48eb85f804b9884c8bdefdde303f4f482a5567357123445a5d0d0d4efa186fbb986e92b040700f9b569840d6bb008889a875ef70314dae179e71e
4	3	10	2243	\\x28b52ffd60ca07bd120066e56c26106fac0306d9d822eccbfb35c610b8d99baa409cbeb7526e3c5a544302a0b8440100401107025d0062006500cd2e6e27cfe25a739689c6f1581882d63490697f9fb53a7bd3da8c7f5f88ceb337a5137fdf282daae5b3336f8c95ffde52e5adce0ecd5defcb30a2ce1ec5dec9df97029bcffee098d7b4e79ac3d32c0cb33c9ad6fc9d9a60f34eb28f11d3365ff0597b6749b55ccf1882d65ac33ccc3b4b5a4e523a735dc166800cc7f1ce924965c3aa4267126f86d2d959927072f6a54c18c5b36f9c54e211a6459cc7411ac425b808c41de29d2f966242893a63de5782669d3873bc5738a8711e8285ee09ef6f59d90ae39983d0b2b267100a96d0a27346507551a6ec5e665e49a3b10d9b1b0d5e88ce8602a54a14266aea810635756351b59797fbfb4ec950d1aadab36f552509278f7b380e074d384d349e39128f62c32a728352c1b3c7e378de0fe4027343054e01199007c4fbac0d4de759639ac7b74ed993c665594de9c4dca8176bb92a72b20a16854aab995ad08a5a6f213ad746bd265d5da9ae7471cb254970ed4e19412b491899124ecbf9fb44ab08b49204e3d9059cd5b2b2aba00930588b467105565c56c40f3a20502231644aebb3f3fb211650013908dede00842f408ece3083314a90846a6692926b9f336d007a3b2ab0d564612f343e14e61ac3f55cccc1f66863e164d3fad693c837422697a38da1a6bae0f75d48cd28f0ae502bc5eebf8047e370c15c8d5b630f978c3e449b348cb2081dbaa07b5c3c49264f2d68bd510133a62b1f72761a062d349a21c8fe12b4236580b800f4a8064244f0677224b74b422822ef30a1
5	1	2	381	\\x28b52ffd607e00150600b24d2a205049ac03c85a85e03fc0b311a43550352746542ff806b252be1ea46206d181010baaaa5ab4c7815616c5e0680ddc07d70f1ab823c0c20d82ad62155c829334920349c570a51e699331c460c7826f4f04ba69907696d7cd47a9fd00bee418710aea1ab99c63791cca48c7aac844e82e277d3b83f01c5da932eeed2f6998a377d3206f47ef873b063ca7243c2fbefd453e38472f58a9adb6a5046c33a52c56f7edcec21ddfa2f415020700f9b569840d6bb008889a875ef70314dae179e71e
5	3	6	846	\\x28b52ffd6051022d0900a6123a24406b9c037394f5575d589e7a91417e0ff9eb0241ba6b65f9f6637f072afc52ccf1f335012e002e003200fb1855cdd4f30fe4803db7733c9e77bcc88def39c1c57efea0ad65ba4d0d1a96ac952c4cd9f70fc9c566098a7f088c49da7b4de2380a933ca72cc94228636ee9f7b0a29e5754e1fb9e9f093e1fa789f13d3f8881e27ebe9bdfabfa01ad8013141d553dcfc51ba6a8174f2c4d304d73d469032de1b423ec1bc20ad0458fe7da73f4c08af154f60b0d5ecf319ed2d011665998c39abd0044d05de0e0a4a7ee5b21716c483f29eeead9b0855065ab59fb56444882a2678b948b0d1051651f130060d3499a2412c8110c8f5b00b5adb8aa0947b7f221db4d03a1191a4d37644f2668c162207101345866820aebcfe4c86a97848288bcc38402
6	1	2	381	\\x28b52ffd607e000d0600b20d2a205049ac03c85a85e03fc0b311a4d9141746ec9888916604b2773d48c50ca203030baaaa6af0e3402b8b6270b486d607a41f34b48e000b5f0553c612708b96e44a0e9744832af5489b8cb9c50e05cf4f04ba695c3bcbeb6e47897fb09c826f59e2087d09d91e09d758a9ba8c4c85eeb6a4e73308cfd10f550639ff250d73f46e1a773e7a3fad63c0439484e7c5f35f6c07e7e80545e255564ac036534a6375cf7796d6f12d4a5f210700f9b569840d6bb008889a875ef70314dae179e71e
6	3	6	843	\\x28b52ffd604e0215090076523923306b9d038396b7e9ab9ef7ac7add3e75e70eca70a60549d71fabbb2d3e1612060a292a2e002d0031008f51d54c3def400ed873bf86e3f94613f9f99e135eece70f126b996e5303c790b5908429fbde21bdd82c41f10e01c8e3d8823c2c51105525415642197b4bbf8715f5fca20a9befd999e0f3719a98efb9811828eee7bbb969aafe0613141f55394fc663bf8871c55285e2daa24b1b688aa51d61df0f56802f723cd79e230756cc13b15f5098f630730e83500e0f9a24ae31b7178008ba0b1a9e2471ec473f75df0b8abb7ab284aab2e5d6be171192a0e8d922f562033cb4b6ef050c13005e234b8a2412c0110c8d5b00d6a65430eea52359902da560d01e8da61bb22713b4603190b8001a2c334185f5677264b54b424144de614201
\.


--
-- Data for Name: run; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.run (id, node, run, began, pruned) FROM stdin;
1	cn001	01a22051-6219-75e6-b450-97a593bf0c1f	1795838534000	f
2	cn001	01a22051-6279-74a9-abed-31439930764b	1795838534000	f
3	cn001	01a22051-62cc-727f-ba34-f7a29ff0b471	1795838534000	f
4	cn002	01a22051-632b-7004-8fe4-e284ae5872d4	1795838534000	f
5	cn003	01a22051-63ac-7399-8cc4-720f3cbac1ef	1795838534000	f
6	cn009	01a22051-6700-762f-928f-e03bd82ef4b7	1795838535000	f
\.


--
-- Data for Name: step; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.step (node, script, ms, cause, since, run) FROM stdin;
cn001	once	1	\N	1	1
cn001	change	11	\N	1	2
cn001	fetch	16	\N	1	3
cn001	last	3	\N	1	3
cn002	change	4	\N	1	4
cn002	fails	6	exit	1	4
cn002	fetch	37	\N	1	4
cn002	once	1	\N	1	4
cn003	fetch	30	\N	1	5
cn003	slow	128	\N	1	5
cn009	fetch	44	\N	1	6
cn009	last	2	\N	1	6
\.


--
-- Data for Name: storm; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.storm (began) FROM stdin;
\.


--
-- Data for Name: token; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.token (sha256, node, old_sha256, old_until) FROM stdin;
\\xba1682629f778fed1f85f66c51132f161e0ee40c222ed6793a3326fed5c46e4c	cn001	\N	\N
\\x3ce589fb300df34db050b6ad3606c244046516e0b971d3c8988a3345f9a33f8e	cn002	\N	\N
\\x744396fdec7450aeb99edc8cebd15c31c611501885685d334ee089c6e6bcb211	cn003	\N	\N
\\x5da424c277062d3a7267546ad4568e81e8fbea1fff121d80e558fe49784b5838	cn008	\N	\N
\.


--
-- Data for Name: version; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.version (number) FROM stdin;
11
\.


--
-- Data for Name: watch; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.watch (at) FROM stdin;
2026-11-28 04:02:14.204579+00
\.


--
-- Name: audit_id_seq; Type: SEQUENCE SET; Schema: provost; Owner: -
--

SELECT pg_catalog.setval('provost.audit_id_seq', 16, true);


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


