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
    run bigint DEFAULT 0 NOT NULL
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
lee	read	\\x56010800f9c85ecd59861431c48decdc802ef8441510bb56d42ab275344c2216	1795811276000	1796811276000
\.


--
-- Data for Name: audit; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.audit (id, at, who, source, action, request, result) FROM stdin;
1	1795811276114	root	admin.sock	token	{"force":true,"missing":false,"nodes":"cn001"}	done
2	1795811276128	root	admin.sock	token	{"force":true,"missing":false,"nodes":"cn002"}	done
3	1795811276142	root	admin.sock	token	{"force":true,"missing":false,"nodes":"cn003"}	done
4	1795811276591	root	admin.sock	join	{"forMs":3600000,"nodes":"cn005"}	done
5	1795811276647	root	admin.sock	approve	{"node":"cn006"}	done
6	1795811276671	root	admin.sock	enroll open	{"forMs":3600000,"nodes":"cn007"}	done
7	1795811276691	root	admin.sock	enroll close	{}	done
8	1795811276814	root	admin.sock	token	{"force":true,"nodes":"cn004"}	done
9	1795811276825	root	admin.sock	token	{"nodes":"cn008"}	done
10	1795811276835	root	admin.sock	release	{"nodes":"cn002"}	done
11	1795811276845	root	admin.sock	remove	{"nodes":"cn004"}	done
12	1795811276856	root	admin.sock	revoke	{"nodes":"cn006"}	done
13	1795811276866	root	admin.sock	admin add	{"forMs":1000000000,"name":"lee","role":"read"}	done
14	1795811276876	root	admin.sock	admin add	{"forMs":60000,"name":"kim","role":"operate"}	done
15	1795811276885	root	admin.sock	admin remove	{"name":"kim"}	done
16	1795811276943	root	admin.sock	join	{"forMs":1800000,"nodes":"cn009"}	done
\.


--
-- Data for Name: enrolment_join; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.enrolment_join (node, sha256, until, origin, spent) FROM stdin;
cn005	\\x8ebcc0e52a1fe140727be9a525c48c613a1691e3eb3b62cce86e7b9e2a7c80cf	1795814876000	\N	1795811276611
cn009	\\x3d7adc06d434c2e95f27134d045ca40fdbfdafa5aa98121c3edf287dc2effc2e	1795813076000	\N	1795811276969
\.


--
-- Data for Name: enrolment_request; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.enrolment_request (node, key, address, since, last, second, rejected) FROM stdin;
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
\\xbf1f21fbfff82fa7d486bb697ed698c6abfe563b58374313c2ef4c399d44bfd9	cn005	1795811276611	1798403276000	\N
\\x47818dfed07c8b2684aaffe1c650975846d2be4c014358afaf2ac5f66a2ff792	cn006	1795811276000	1798403276000	1795811276000
\\xc62ba024a4447c6c7a515262902dd1650cb338f4f5a4bd07a0078855065a182f	cn009	1795811276969	1798403276000	\N
\.


--
-- Data for Name: log; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.log (node, run, name, at, bytes) FROM stdin;
cn002	01a21eb1-762d-7536-9884-09970bc0671a	03-fails	2026-11-27 20:27:56.390229+00	\\x323032362d31312d32375432303a32373a35362e3337355a207374646f757420462073657474696e672075700a323032362d31312d32375432303a32373a35362e3337355a20657865632046203330393833203330393832207368202d6320276563686f206e6f206469736b203e26323b20657869742037270a323032362d31312d32375432303a32373a35362e3337365a207374646572722046206e6f206469736b0a323032362d31312d32375432303a32373a35362e3337365a20657869742046203330393833203720306d730a
\.


--
-- Data for Name: node; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.node (name, state, due) FROM stdin;
cn001	{"name":"cn001","status":"booted","since":"2026-11-27T20:27:56Z","updatestatus":"synced","lastSeen":"2026-11-27T20:27:56Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a21eb1-75f3-7589-ab00-15ab62c20721","seq":10,"attempt":1,"ended":"success","heard":"2026-11-27T20:27:56Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerun":{"service":"run","run":"01a21eb1-75b6-77c8-b177-e13f832f3b0f","seq":6,"ended":"success","heard":"2026-11-27T20:27:56Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1},"program":"0.1.0","plainHttp":true,"records":{"hour":498836,"inHour":5361,"all":5361}}	\N
cn003	{"name":"cn003","status":"booted","since":"2026-11-27T20:27:56Z","lastSeen":"2026-11-27T20:27:56Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a21eb1-7675-744e-a64e-cc20cbe1ba1c","seq":6,"attempt":1,"ended":"success","heard":"2026-11-27T20:27:56Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1},"program":"0.1.0","plainHttp":true,"records":{"hour":498836,"inHour":1199,"all":1199}}	\N
cn005	{"name":"cn005","status":"defined","since":"2026-11-27T20:27:56.611340318Z","reported":false,"kickstarted":false,"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":0,"plan":0},"plainHttp":false,"records":{"hour":0,"inHour":0,"all":0}}	\N
cn006	{"name":"cn006","status":"defined","since":"2026-11-27T20:27:56Z","reported":false,"kickstarted":false,"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":0,"plan":0},"plainHttp":false,"records":{"hour":0,"inHour":0,"all":0}}	\N
cn002	{"name":"cn002","status":"failed","since":"2026-11-27T20:27:56Z","lastSeen":"2026-11-27T20:27:56Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a21eb1-762d-7536-9884-09970bc0671a","seq":10,"attempt":1,"failure":{"step":{"stage":"fails","args":[]},"cause":"exit","exitCode":7,"errorLine":"4 setup /tmp/.tmpKCUqBp/nodes/cn002/state/bundle/fails","errorMessage":"setting up\\nno disk","command":"sh -c 'echo no disk >&2; exit 7'","hint":"see all its output on the node: provost log fails; fix it, then: provost boot --continue"},"ended":"failure","heard":"2026-11-27T20:27:56Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[],"released":"2026-11-27T20:27:56.836616734Z"},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1},"program":"0.1.0","plainHttp":true,"records":{"hour":498836,"inHour":2527,"all":2527}}	\N
cn008	{"name":"cn008","status":"defined","since":"2026-11-27T20:27:56Z","reported":false,"kickstarted":false,"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":0,"plan":0},"plainHttp":false,"records":{"hour":0,"inHour":0,"all":0}}	\N
cn009	{"name":"cn009","status":"booted","since":"2026-11-27T20:27:56Z","lastSeen":"2026-11-27T20:27:56Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a21eb1-789b-73b7-bbbd-285fa194401b","seq":6,"attempt":1,"ended":"success","heard":"2026-11-27T20:27:56Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1},"program":"0.1.0","plainHttp":false,"records":{"hour":498836,"inHour":1196,"all":1196}}	\N
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
1	1	2	381	\\x28b52ffd607e00050600b2cd291f5049ac03c85a85e02fc0b31164ed183643ba3a34236b5fcad78354cc203a300bbbbbabd8e740274a62f0c386d607a46134b49e000b5fc928141391537bbadee19468b1d03d10ab61b8651c453cfb1368295d330aec6e3f88fd80708b14c78d6f21fa361d9a562d7d2b2d450e226e68cfbe20343f47bb0b7276f8e4f2f396d29dfdbc9bd6330022494203e7d9e16c07e6e7052ab1c56c9960b122a48a97cfce28ad275492be420700f9b569840d6bb008889a875ef70314dae179e71e
1	3	10	1703	\\x28b52ffd60ae051d0b0006543c23406b9c037bb9da6a2bba53352214ae40b0ed028aff6c82c11a37a129f013c2e5758d09310030003200ad45fd7d74a266f8bc7b1cb0e7668ec7f38e1699f13d3758ece7111665975a55074b2129218b52f5fde361b1f969e21d0209a369510c65b8d510a74a02517459885bca4212c349b1a4dfbf083e9f545ffb9e1df49e8f10c47ccfad5980dccf777388d83c8df31c8890c5067848d2be150f6a2283917b2e1e9b39cf73e331477b9edb839eb0efc79cc733edd9712f629ec95e210f4b69d29440280995b47bec79a0f65c8b3b5a64b0b54003b2e7a252b2f6044d41b701037b1e8eddd04fddb70272474f4555550a282070229960d26e5f9131c197299e0b432305f4e7a919a7b2a0de52a0f501bf8d8077675a53cc9e002ac2c94c2dd5ca00ed2d26a30fd19a865126427f26681e17cfc9d4d702d61e6b20b3747582544b41d040e595c08d0e858d82e65d06b60baa1e530b2a36f59884ac195e2cec01
2	1	2	367	\\x28b52ffd607000d50500e24c28205049ac03c8aaa4653cc0b311a4d9141746ec38b52bc0df92733d48c50c9da7070955553dd6a1405c98a5e0880d2c1e92e89e81455848bc0d551c9c1e1b4cc956909689bd2215594ea55a2ba4785f5702a2e3b4a35d3778dad2e3a45e5a97dddb5225dd7934a3739b5b66ab5fe8abda245f778ad31cbd3978be8e1e1f1621804b1684c7c1af3bc80e88a3131cc66a5eca03cdb99b072b7f1dc1b0081db3c42704070028b569500d6bb08821da433fe15e9cadf1bc130a
2	3	6	865	\\x28b52ffd60640235090066923822304b550783eb9f6a552310828e983615e70e3db574406a1a15e4190a1e31228161152d002d0030009fd1d42caf6f2207ecb9ddb3b8fe79939def59e1665f8f9020dbd82a76d098b1969130c5be5f40379b2134ef1087e21c8b8dd6166328af35236190662c8617734b7df54ba9f8bee7468ad7c7497ecf0f5a90dcd777f37b537f03fb5e2604a1e83a30a59b0df080d8f71225683a3935d7c45911ddf39eb0efe8a2c575ed396ae2c45c8fbd82a398c361010f074b1443b43d0154d06dc0e0602f906737f455ed7b91dcd315e9263a08a577451297fc4c494021dd5529c596b20216005d230b4225121c120cbe5b0016b654f52b88e9b2d5dd168de6dd79dd34ccd110c76ac2b0d6907598a06b43914406546dc6154640d6313fa13dc42920ef30a1
3	1	2	381	\\x28b52ffd607e00050600b2cd291f4049b50d796ac6f379e651fa7e4ccab0dd3be0347468b82a48979ca38010880b999969b0bf81661ac6e0690ddc87a4dd62e07e000b5fea288c259655ace0529086042f0526a28bc7d1d68114cbd915817e9ed650e3baf949d90f74576eb24663a598d91891432d2416b5509bd365cdb33b08d1d335d349ceee94c7797a3f4f3b7b7a47dc2fc0254c42e4ded9dde303f4f40243b1b52c97602daaa2b1b967871aeee71aa6af100700f9b569840d6bb008889a875ef70314dae179e71e
3	3	10	1664	\\x28b52ffd608705c50b0066964222204d550733315bed0fc65bc40938ddc423200803d7b2ef7f2d7d5b88d10a02031c0d3600390039000f92fbfa6e7e6feaefe73335cbeb99c86acfed1ce97ae74d66f89e1b37fbfa04e4d8a4ed6a084933183390b6daf712e4663304e72502ee91ae6ccf0f13a7e5aad83bb096acf61ab2b883196b2dce18508ec450301c89c11666cdb1f57d9ce4f56cadf8be67268ad7cf285abee707031dd048774554c749aa0915818a91e21831df332c49b0a1af87c0946e36c084b2ef458ce0747262ae0b9fed9eebb989ce79d7f38bd115f61d0313095b4c41927d0134e83e8070d075ed7b01f1ec88be4aeee9da06d65a8d296cdf8b0921f85c15d88a51ed1cd544e8cc282a4d16eebce9e40b23005f23634a2ea7402d3134d202349c2c6efa04c325e543bc9406ed3f10df8de200af648c450810de43142ea66bb784a4d18742370d8333086511a1cae226b05e0d505b80aad5a24c846674b92984c8d0ebb3a1a03141f126e30a17d0bc995a18b159c724149ae1c5e61e
4	1	2	381	\\x28b52ffd607e00050600b2cd291f5049ac03c85a85e03fc0b311e0db141746ec9848b9c57f295f0f523183e8c00baaaaaaf871a0954531385a83ebc3d13031b88e000b5f062bd412c91a0ec985b497844b8ad49636197b8bb522391f11e8a679ed2cb0db1d25fe814b4be9f174b5a65930d65211c64a64d5caf4605a97f47c06e139faaa32c7f9106998a377d3bcf3d1fb711d03e0a1243c309e0fa33b38472f5006af655d82b59952aad53ddf595c47b8287d850700f9b569840d6bb008889a875ef70314dae179e71e
4	3	10	2146	\\x28b52ffd6069079d1100a6a26425106fac0306d9d822cecafb35c610e4b77e44cabeb0a9a9d600f50aecaf692a0a00008a381055005a005d009012350fa43090659ac7b4bbcb4acfdeb426e1dd379af2ec3d27e4ee0ba3055d3e3bf34258f9ee3d555e7af648ee725f7e52757609f646eebe92d77c768887c0418d6b8d03d4280ca33c4d6bee5e51af79a9d8c7088f3a6beecc406df3059fd1e57ad610b4d61ac6d1918ad399d3f43503643c8c3b33c819fbd11a9d4dbcf94d67e729bec8d957229f04cfbe50ce47b8b37c5375c6b8ef14c90a396bb8573c067a1a8434e8f1688ae3703c94a74110671042c7c99e3d2838466b4a2951d52591b17b9979199665fb352f0b6f34e5521d543c202854540f2c15d5cbaa6a2f2fe7ee2be3029d94eed997d629be88c3e1381a27928fa2263c83262ec17e14f222a1efec711e07723f880acc0d93198f4684bbac0d3de559635ae35b656c39a1a2ac9e132257eac53aae498cac822599d36a9e169356cb6d34e55aa9979cab6bd5752eeeb8a6e9ad5d19a568a7f81258005a1d27bb0a9a0083b5a60457604165497cf7779c6c7d3039205022213387756ef3fbe10450f132081cde80612fa03fcf1c332d16485cb510b48265126773b72b87971800747f94e41ae3f524ecc1e86863e164d38ad693c837424a2e4019433171c12f5d48ad28ec5da1768add7f018fc6f2557335dcee76b8a4f421dad3304a2274c882ea71f12c99bcb5206bc34d698dcef221d9d310b4517945e0868bc20841035c06081794021b582c09c9c724849be1c5e61e
5	1	2	381	\\x28b52ffd607e00050600b2cd291f5049ac03c85a85e03fc0b311214fa4b91848c45dfc12eda5fc16c46406a2c30b9999c9dce3402b8b6270a486ed036c4e0cdb1160e1ad30165322d16291d490e325629395f2509a0ce335e358c9dd11816e9ad7cec2dd7ba4dc0fa0daa7f8c15408132fb689d76aa968ac25f558e9aabc3b83f01c9dc864e0dd196998a377d3bcbba3f7b31d03182a090fc7bb73dc8373f40256b8a62e95a069522a314dbdbbb36c475e94be420700f9b569840d6bb008889a875ef70314dae179e71e
5	3	6	818	\\x28b52ffd6035026d080006513422504bab03e332614936f0fb4c62b018af993a18c0355e0abbff11bda8cfb0338904182a0027002b00cef30ae4803d7763349e67b8c809dfb3428bfdbcc14296a94daa8029a48a964aeafb06d36233f3e221026c31a409ab6a9abe878ff37c2225e8be67a581cfc7a649be67f7181ceee7bbd9b9a7bf8fcbd31cbd80cd8bcd799427c21b9aa57fb06fd896c653f7bc28f0499e89fd82d39628272e29e7101fab213e0e8690117a2cc54ab0bdc01be8267068cc33ed7bc170ec877e3adccf9329925252aa888f79cbf3884e8b0d1081e83e130060d349ba231258110c8f5b00b5adb8aa094cb71d23cd4d6dd00c959709dc5843616182a60d03890ba4da8c2f8c80ac63120acdf062730f
6	1	2	381	\\x28b52ffd607e000d0600028e2a1f5049ac03c85a85e03fc0b311e03719d80ce9eab0dd0779295f0f523183e8c00baaaa6ab8c7815616c5e0680daf0f47c3c4f03a022c7c154c194b245b3c2417d2388997a8d4963619e3c59a4aee8e0874d3703b0bec7e47c9fd00c6a37352a55a7a49c1361166cec5c44a6e6c656298f625bd3b83f01cbda932c7dd21d23047efa6e1bba3f7f33a06c043497860bc3b8cefe01cbdc028dc5aa74bb036534a6375efee2caf235c94be420600f9b569840d6bb008889a87eae51e1e62ee01
6	3	6	815	\\x28b52ffd6032026d0800b6113622406b9c037bb936511796912f46c8772de0ba86e23f9b60b0f6b1038c3f215c5ed7982b002a002d00112ff43c133740bfec1a8ee71b4befe2fa65b8e6e70d94441b53c50a1a4b6b25852976bdc371cdebc07e43ed1d5a7a09444bebed626ea9eb63043d9f502a2ed72ff3c4e7fb79def5bb400568f979e65d9688afef268af8c07650c43c11deec9a1fe87919ae39bac6f15cfa6d9818bde7419fb0fcfc5b0a4112cb2d12044bcc7b2f050f8529ac254d2f00079809169ce36c33033f959e15d072f45c89526c21969e150d1dd83c91865c33c043313d0710005e234baa231250110c8d5b00d6a65430eea523599026a580d01e8dc61ab20b13346d18485c40aa8d799f4518de61ee01
\.


--
-- Data for Name: run; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.run (id, node, run, began, pruned) FROM stdin;
1	cn001	01a21eb1-757d-7605-950d-c7df0f2610b3	1795811276000	f
2	cn001	01a21eb1-75b6-77c8-b177-e13f832f3b0f	1795811276000	f
3	cn001	01a21eb1-75f3-7589-ab00-15ab62c20721	1795811276000	f
4	cn002	01a21eb1-762d-7536-9884-09970bc0671a	1795811276000	f
5	cn003	01a21eb1-7675-744e-a64e-cc20cbe1ba1c	1795811276000	f
6	cn009	01a21eb1-789b-73b7-bbbd-285fa194401b	1795811276000	f
\.


--
-- Data for Name: step; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.step (node, script, ms, cause, since, run) FROM stdin;
cn001	once	1	\N	1	1
cn001	change	5	\N	1	2
cn001	fetch	8	\N	1	3
cn001	last	2	\N	1	3
cn002	change	4	\N	1	4
cn002	fails	4	exit	1	4
cn002	fetch	16	\N	1	4
cn002	once	2	\N	1	4
cn003	fetch	15	\N	1	5
cn003	slow	117	\N	1	5
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
\\xe74ca79b315a5101db1d52d367e6f42a03a32fbcf40808946f00bfc4c819954b	cn001	\N	\N
\\x680c53e1b17eb9b83a75a0ec7c25b23ced8b38a5088548015198077cb0b5d440	cn002	\N	\N
\\x38d5d453f457ef0cef872c55de678f104209eede518fd761f47b200dae72894b	cn003	\N	\N
\\xe49da757fdc23371bf14970e23091bee4ce41ac7d6ddeaa5c818e11679cfd2f5	cn008	\N	\N
\.


--
-- Data for Name: version; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.version (number) FROM stdin;
1
2
3
4
5
6
7
8
9
\.


--
-- Data for Name: watch; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.watch (at) FROM stdin;
2026-11-27 20:27:56.179208+00
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


