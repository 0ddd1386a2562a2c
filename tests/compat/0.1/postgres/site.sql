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
lee	read	\\xd343df57730843466d084a0e7439eb5d9b0fce90c8fea0ba83c8f1f32bd4f836	1795837320000	1796837320000
\.


--
-- Data for Name: audit; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.audit (id, at, who, source, action, request, result) FROM stdin;
1	1795837320114	root	admin.sock	token	{"force":true,"missing":false,"nodes":"cn001"}	done
2	1795837320126	root	admin.sock	token	{"force":true,"missing":false,"nodes":"cn002"}	done
3	1795837320137	root	admin.sock	token	{"force":true,"missing":false,"nodes":"cn003"}	done
4	1795837320606	root	admin.sock	token	{"force":true,"nodes":"cn004"}	done
5	1795837320614	root	admin.sock	token	{"nodes":"cn008"}	done
6	1795837320622	root	admin.sock	release	{"nodes":"cn002"}	done
7	1795837320629	root	admin.sock	remove	{"nodes":"cn004"}	done
8	1795837320638	root	admin.sock	revoke	{"nodes":"cn006"}	refused: no node was revoked: unknown cn006
9	1795837320648	root	admin.sock	admin add	{"forMs":1000000000,"name":"lee","role":"read"}	done
10	1795837320660	root	admin.sock	admin add	{"forMs":60000,"name":"kim","role":"operate"}	done
11	1795837320667	root	admin.sock	admin remove	{"name":"kim"}	done
12	1795837320716	root	admin.sock	join	{"forMs":1800000,"nodes":"cn009"}	done
13	1795837320797	root	admin.sock	join	{"forMs":3600000,"nodes":"cn005"}	done
14	1795837320844	root	admin.sock	approve	{"node":"cn006"}	done
15	1795837320865	root	admin.sock	enroll open	{"forMs":3600000,"nodes":"cn007"}	done
16	1795837320882	root	admin.sock	enroll close	{}	done
\.


--
-- Data for Name: enrolment_join; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.enrolment_join (node, sha256, until, origin, spent) FROM stdin;
cn009	\\xdc0547ae08d95c24f5f47bb2042e668c6a6a7388d4f7c8b4583fb6773291c1dd	1795839120000	\N	1795837320742
cn005	\\x3f6674f356950e5632c0d7871594ac454ce9b964b80b9a6a0f5cc75274831223	1795840920000	\N	1795837320812
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
\\x84c7807e487a7c4c14998339016966fadf132d78f4fc49d2fc5ea6ce37c41f4c	cn009	1795837320742	1798429320000	\N
\\xd1b9d21e9049b6fca6dc9ca31f982b66e7ffd7327e7e499093c3e06e29bc2c3f	cn005	1795837320812	1798429320000	\N
\\x2cdc8c3125f1cbd26787897c0b0a7ecfec0873940d4257f6719d13684b0a71ab	cn006	1795837320000	1798429320000	\N
\.


--
-- Data for Name: log; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.log (node, run, name, at, bytes) FROM stdin;
cn002	01a2203e-dc70-7688-ad45-8d2d4d6c4d70	03-fails	2026-11-28 03:42:00.344238+00	\\x323032362d31312d32385430333a34323a30302e3333315a207374646f757420462073657474696e672075700a323032362d31312d32385430333a34323a30302e3333315a2065786563204620373539342037353933207368202d6320276563686f206e6f206469736b203e26323b20657869742037270a323032362d31312d32385430333a34323a30302e3333315a207374646572722046206e6f206469736b0a323032362d31312d32385430333a34323a30302e3333315a206578697420462037353934203720306d730a
\.


--
-- Data for Name: node; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.node (name, state, due) FROM stdin;
cn001	{"name":"cn001","status":"booted","since":"2026-11-28T03:42:00Z","updatestatus":"synced","lastSeen":"2026-11-28T03:42:00Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a2203e-dc41-7638-a37e-b1e1b301f50b","seq":10,"attempt":1,"ended":"success","heard":"2026-11-28T03:42:00Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerun":{"service":"run","run":"01a2203e-dc10-7378-8534-d2d97e122e7f","seq":6,"ended":"success","heard":"2026-11-28T03:42:00Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1,"keys":["F6DF0FCD9EA1790F"]},"program":"0.1.0","plainHttp":true,"records":{"hour":498843,"inHour":5445,"all":5445,"recordsInHour":26,"runsInHour":3}}	\N
cn003	{"name":"cn003","status":"booted","since":"2026-11-28T03:42:00Z","lastSeen":"2026-11-28T03:42:00Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a2203e-dca2-7795-bb09-176099d7a1d3","seq":6,"attempt":1,"ended":"success","heard":"2026-11-28T03:42:00Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1,"keys":["F6DF0FCD9EA1790F"]},"program":"0.1.0","plainHttp":true,"records":{"hour":498843,"inHour":1226,"all":1226,"recordsInHour":6,"runsInHour":1}}	\N
cn002	{"name":"cn002","status":"failed","since":"2026-11-28T03:42:00Z","lastSeen":"2026-11-28T03:42:00Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a2203e-dc70-7688-ad45-8d2d4d6c4d70","seq":10,"attempt":1,"failure":{"step":{"stage":"fails","args":[]},"cause":"exit","exitCode":7,"errorLine":"4 setup /tmp/.tmpA0rQeF/nodes/cn002/state/bundle/fails","calledFrom":"7 main /tmp/.tmpA0rQeF/nodes/cn002/state/bundle/fails","errorMessage":"setting up\\nno disk","command":"sh -c 'echo no disk >&2; exit 7'","hint":"see all its output on the node: provost log fails; fix it, then: provost boot --continue"},"ended":"failure","heard":"2026-11-28T03:42:00Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[],"released":"2026-11-28T03:42:00.622742298Z"},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1,"keys":["F6DF0FCD9EA1790F"]},"program":"0.1.0","plainHttp":true,"records":{"hour":498843,"inHour":2624,"all":2624,"recordsInHour":10,"runsInHour":1}}	\N
cn008	{"name":"cn008","status":"defined","since":"2026-11-28T03:42:00Z","reported":false,"kickstarted":false,"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":0,"plan":0},"plainHttp":false,"records":{"hour":0,"inHour":0,"all":0,"recordsInHour":0,"runsInHour":0}}	\N
cn009	{"name":"cn009","status":"booted","since":"2026-11-28T03:42:00Z","lastSeen":"2026-11-28T03:42:00Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a2203e-de19-74b4-8ec5-958eb0e4c104","seq":6,"attempt":1,"ended":"success","heard":"2026-11-28T03:42:00Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1,"keys":["F6DF0FCD9EA1790F"]},"program":"0.1.0","plainHttp":false,"records":{"hour":498843,"inHour":1224,"all":1224,"recordsInHour":6,"runsInHour":1}}	\N
cn005	{"name":"cn005","status":"defined","since":"2026-11-28T03:42:00.812318557Z","reported":false,"kickstarted":false,"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":0,"plan":0},"plainHttp":false,"records":{"hour":0,"inHour":0,"all":0,"recordsInHour":0,"runsInHour":0}}	\N
cn006	{"name":"cn006","status":"defined","since":"2026-11-28T03:42:00Z","reported":false,"kickstarted":false,"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":0,"plan":0},"plainHttp":false,"records":{"hour":0,"inHour":0,"all":0,"recordsInHour":0,"runsInHour":0}}	\N
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
1	1	2	381	\\x28b52ffd607e00150600b24d2a205049ac03c85a85e03fc0b311e0da141746ec988891668832713d48c50ca203030baaaa6af0e3402b8b6270b486d607a46162681d0116be0a4618ab922ddacbf50e97aa2544ea913619738b1d4472fe13e8a671ed2cb0bb1d25fec19116e2deae81182a0956b42c8a5db99e7b0995eeb6a4e73308cfd1932a839c0f5fc31cbd9bc69d8fde4feb18001125e181f17c18dbc1397a812a2fc14a09d8664a69aceef9ced23ac245e92b040700f9b569840d6bb008889a875ef70314dae179e71e
1	3	10	1731	\\x28b52ffd60ca05c50b0066554124106daa0e8e0dd18ab8d4f988a68c5f33d94884f42f33f672df6f049e124014010002701a34003600390067efe618affe7ba5ae667a763939e09d1b4a8db34bb132c3df99016b9f5d61f739e5259be038a4358471ebfedea8606daea6fa884cc9794567c9bbc3d39a1849e798c82488e22c105916d7208d8c24c2c93a07dbfe7d5ef4ec6d77c6bfb3b4e6d9ab65457fe7383d50eed5449d2995c2da008fa5bdb7625a5385f492678bd786d4d99931a114cfce715a8b43fb346dc0e04914400b2518e80befede08609a9c6597b0f8fc66ddbf6384c6b5cd272c2aab2e259b3b8142ba4b10518149e31ca3ae79d603ae846808055c5b51d7db6efada0dcd7d9b2bbae39750a282070221999db0d5f9131319829d60b43e30588e8801967b2a0de52085a50e8dd99f614b327008a66e1c05c6d6c09afc564fa10edd330ca43e80f82ee71f124993a5ac09a620d6496ae4e903129085a507915b8098ec2ada0152f03cb05d0a29a0a0beb2fe7486d97844c44de214001
2	1	2	367	\\x28b52ffd607000cd0500e20c28205049ac03c8aaa4653cc0b311210b13363b46542de01ac84af97a908a193a4f0f09555535f850202ecc5270b406170f496cc5e0222c24ce8ab68c55ca16ee257b0792ca292bf5489bad21ac1d4b39ff0544c7418e12df4061bd9b9a1d6f5f2e55b46c4cb1d494bc6ca5bb2ee9193da936c9f9fd9ce6e8cdc1733e7a7c5c84009d2c084fc3f31bba03e2e804aabc8b950eb4cd94d258ddf3118c8bb099253e21070028b569500d6bb08821da433fe15e9cadf1bc130a
2	3	6	893	\\x28b52ffd608002ed0900b6533d24206d9d03c3f4340a2f327ff0a3ca56470a3bf090e870384abe6fbf871fa1220802240122300031003600f0eaef2775355b678f9203f6dc4f7a9c5d829319df73e3cd3ebb82eaba65154d785cd25ad23875df3faa379bab693e22cade81e1b0738d9d4474315914e6491e4771126d3026aca873afe997bda94af83d47873cbbbcacef194e0f16f7d9bb1906d5449d2dd37ab30122cdbe23e998e6b3ae78b63837e493e0e290269c3660905014400a291ae80bfb8670837cd4e3aced998af262380b11a635da2ccf9e603ae8468078d599ee3baa7836a43bb2b8af33a6a37c55e58067cce2164bd321d0b0de99aabaf6b47d47730a17005d230b2226128c120cbe5b002cace2088870a6cbc07a5b349a776779d33047431cab09c376435665821e2c8a24329006cb4c5061f5991c59edfa094210e7ddbcc3dc03
3	1	2	381	\\x28b52ffd607e00050600b2cd291f4049b50d796ac6f379e651fa7e0c69266831e1923a66bd2a48979ca38010880b999969f0df40330d63f0b406d687a4dd6260fd00167e148b30562d5b30050f0569a8d8426022bab8563b16422ce72b02fd3cada1c675b327e51fb42c164dd5d469437728864b19072a9128e854ee32cdf31d84e8e99ae924e73be5719edecfd3ce4fef88f50b70099310b977be7bec003dbd2093976095046b51158dcd3d1f6a583fd7307d850700f9b569840d6bb008889a875ef70314dae179e71e
3	3	10	1692	\\x28b52ffd60a305550c0076174725208d380733611a8937db1ef191f2bb03c71653c8303822570b55f487bf142121418024400439003c003f00e7071f24f7f5ddfc5ed56f9f51d52caf7f22af766e0751d7436f32c3db79e2665fafb0db16456336a15914c614c6b2cbdb29c9cd6609ce4b040bed1dc10dd145d495b573f4c4cab932ed0ece2e18d8320e63e628dc609cd2308c86c214ef5198d965716cdf1e2b793ddb8defedfc4cf1fa394dce5b1d2bb9265c022b4e8be3f4bcfd618a820d7d5d28a674b3012616ed1d89139c4e56cf55f2d92eba9e27d141ef7a7e71921cb28e061b30703c0a200b7930200f136c19d3b413c0836e040827493c3ba2afdbde11c95d5d99637717d6b0f68e4c28c1e8dac05ecf6a07ad4984d09ce2d286e4d09b4ebe0e98487765ac24201014430ce478df7498ca9314c4c5d058015823fce032c6a57c88b734687c20bea338c04bc6582140d8210a63bab61292d187424fc3e0845016852a8b1258af01ea01aab445d1a019cd92428840af0744c146500a9071e1825b71cc8704f0a77224b44b422322ef70a1
4	1	2	381	\\x28b52ffd607e00050600b2cd291f4049b50d796ac6f379e651fa6ddccbb0dd3be0626da42d3a48979ca38010880b999979ecdf40330d63f0a406ee83d26e31703f80852f83a9438b450d6eb81a9260c18bc2440845c692c510b57cdf04fa7992861ad7cd4fc4fe205753cad154d3c6d0508d91b163612ea5a12b529589fcde41889eae998ef2bd6b8ff3f47e9ee4fbf48eb85f80539884c8bdefdde303f4f482cc55b54512304582c04353bf871aeee71aa6af100700f9b569840d6bb008889a875ef70314dae179e71e
4	3	10	2243	\\x28b52ffd60ca07b51200f6a46b250071ac038e395b9169a41c890802e5a5ecc97984fe64d72a12a00aec27ef2b0bfeffae0a265c00630062000b0124be058222cfd21e18977d34c7794dbbfbacead99dd626bcfb463acfde945adc7da1d4a8cb67675e082bbe7b4b156f3d7b9cbbdc975f449d3d82bd17775fca6b3ebb446bce81b8478b809ca5699688d39cbb53d36bde49f639026f9ab67983cf9a3b3bd4e5ea8ca0b5e63450cb494a6790aeaf19a0a369dcd96152d9af56f1ace2cd4f3a3b4bf25d9c7d29f345f0ec0b27adf8a4499ee66041a29030691385c8e413eebcb118f349d459e3be529c95c5d9c33da33d11022311129d0805ee6f59d9eac1b327a16565cf24182ce3a2735250d5a24cd9bdccbc0e0cb3fd9a198637d2c94cf6a1b6036aea01869a9a5954d5cb0b72f79db2a1d25af7ec5b2b49be0b48e23c38ce374d149e3d158f60bf0a99a1d4771681a007e48e201998212a011d04ce84fbac209aceb3d634df6aca9e142ecb6a4a2de646bd58cb559117ab6051a8b49aa906add4721be95c1bf59a747545754517b75c92f4d6ee94515c49bec9946f5acfdd275a277125e9c1b30b3cab656557811360b0168de00a2cb8ac881f3a20404262c858da01b3f3fd10cba980bc08de6600c22f40402f8c7a2dc45533bb955c579cf10520d95136ac260b7b21f1a13cd718a8e72207db5b1b0b279dd6379a44ba1122b91c690c35d505bf7721b54601ef0ab52976eb057b5974084c58aac980315a4c4a1fa23d0da324428742503c2e9e2693570b5853ac81ccd2d90972760a8276545e0adc0ca3f043d08e9201e202d0231b0812c19fc991d52e098588bcc38402
5	1	2	381	\\x28b52ffd607e00050600b2cd291f5049ac03c85a85e03fc0b311e05a692e061271975ffca74c5c0f523183e8c00baaaa6ab4c7815616c5e0680ddc07a46162e08e000b5fc54118ab922df8e57acca5e284486569f338dc3a1891bcfd0974d3b87616d8cd47a9fd40bdc4eb31a6c64ac9d4b92cd85ab98cbc844a7739e9db1984e7e84a9541de0e5fc31cbd9bc6bd1dbd1fee18001125e181f1ed30f2c1397a816a5ba229253836534a6375dfee2cdc112e4a5f210700f9b569840d6bb008889a875ef70314dae179e71e
5	3	6	845	\\x28b52ffd6050021d090076d23924306d9c0303746c2963fcf6cc60236c4264737382b55071291bedc726c002d4080b838e712e002c0032009f51d54c7d3d4a0ed873c307e4eb8f67f2c2f7cc00677f3d41759d6213455838d61a5b9cbaef21129ccd12342f11eca9e330e5310c73f0898c13750e36fd5e56d4d71355f97ccf71925f9fd3e47ccf0ff440717fbd9b9fa7ea6f13342155c52fc721a6a81d6ff4314da0e031081a6d184b73857d47b841c208f2d5f61c4559395fc9de21890d32f13d5d9816134ab22c6eb11f800cba0f22a024f1ec487fe9be1b1477f5d55c5354d5b545db77634212147d29260567034cbc7d3764130060d349922412c4110c8f5b00dba628306ecf917ca896d230688f46cf0d5993094ab018475ca005cb745001fc991c59ed92501091779850
6	1	2	381	\\x28b52ffd607e00050600b2cd291f5049ac03c85a85e03fc0b31121cf6d8fc41935946bc07e295f0f523183e8c00baaaa6ab4c7815616c5e0680dae0fb03931b88e000b3f8aa58c25922d1c9207c25e122e51a92c6daef58ec554f27644a09be6b5b370b73b4aed074a1354ac8f57c1b280bc523d75244b8c2413baeb92be9d41788ece5419f876461ae6e8dd34efede8fdb88e010c958487e3db39ba8373f402d5b6aa114ab036534a6375dfee2cae232f4a5f210700f9b569840d6bb008889a875ef70314dae179e71e
6	3	6	843	\\x28b52ffd604e0205090046d23824206d9d03c3f4340a1f582fa141e9ee48610729243a1c0ebdd5b2dffdf1111240028219112d002b00310071ba9aade723c8017b6ee7783cef789117be670617fbf904d56dcb2a8ad0b484b18469dabe7f502e3653527c448f9b64811645e2308e1256b435c7f47b7859cf3baaf07dcf51059f8f55057dcf4f7ab0b89fefe6f7aefe3ecebaa267e3b1ddd4f8a38e820914380b82479f05f35c61df106e806e7a3cd99ea7085ed053d93b2ccadec20a719370924411a631add90f4806dd07108ea23836a49fba6f86c57d3d5942b5b186ed9b11254a9a9e4bb45c6c8088b67d336025c513005e234b8a2412c0110c8d5b003817fc6032a623f9902da581d01e8da61bb22713b4603190b8001a2c334185f5677264b54b424144de614201
\.


--
-- Data for Name: run; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.run (id, node, run, began, pruned) FROM stdin;
1	cn001	01a2203e-dbd7-7255-a584-36c622dbc719	1795837320000	f
2	cn001	01a2203e-dc10-7378-8534-d2d97e122e7f	1795837320000	f
3	cn001	01a2203e-dc41-7638-a37e-b1e1b301f50b	1795837320000	f
4	cn002	01a2203e-dc70-7688-ad45-8d2d4d6c4d70	1795837320000	f
5	cn003	01a2203e-dca2-7795-bb09-176099d7a1d3	1795837320000	f
6	cn009	01a2203e-de19-74b4-8ec5-958eb0e4c104	1795837320000	f
\.


--
-- Data for Name: step; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.step (node, script, ms, cause, since, run) FROM stdin;
cn001	once	1	\N	1	1
cn001	change	5	\N	1	2
cn001	fetch	5	\N	1	3
cn001	last	1	\N	1	3
cn002	change	3	\N	1	4
cn002	fails	3	exit	1	4
cn002	fetch	11	\N	1	4
cn002	once	1	\N	1	4
cn003	fetch	9	\N	1	5
cn003	slow	121	\N	1	5
cn009	fetch	20	\N	1	6
cn009	last	1	\N	1	6
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
\\x29803718c2bc36a17b8fd83ca17dff290b6e1eff3ee3995090d3438426277cb8	cn001	\N	\N
\\xd9b1ded9f2510d1fcc0e3de0f11e128cc7bb89e55a31b5cdc6392ac2a6ece441	cn002	\N	\N
\\x006f3254bdf677851349db2a9e8246b0ba17172edbaa58616ac196d2d7d9d945	cn003	\N	\N
\\x0502e6aebd481adc20ec5b086ad85beed093d3f9db6440dd436cc06a9b5aab1d	cn008	\N	\N
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
2026-11-28 03:42:00.173065+00
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


