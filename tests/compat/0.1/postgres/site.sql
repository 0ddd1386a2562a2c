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
lee	read	\\x27c7d70eccc7e4a338db674e835f8cd7672dfb1036622f924e366bbac7cb7640	1795812105000	1796812105000
\.


--
-- Data for Name: audit; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.audit (id, at, who, source, action, request, result) FROM stdin;
1	1795812104580	root	admin.sock	token	{"force":true,"missing":false,"nodes":"cn001"}	done
2	1795812104596	root	admin.sock	token	{"force":true,"missing":false,"nodes":"cn002"}	done
3	1795812104612	root	admin.sock	token	{"force":true,"missing":false,"nodes":"cn003"}	done
4	1795812105092	root	admin.sock	join	{"forMs":3600000,"nodes":"cn005"}	done
5	1795812105160	root	admin.sock	approve	{"node":"cn006"}	done
6	1795812105191	root	admin.sock	enroll open	{"forMs":3600000,"nodes":"cn007"}	done
7	1795812105215	root	admin.sock	enroll close	{}	done
8	1795812105364	root	admin.sock	token	{"force":true,"nodes":"cn004"}	done
9	1795812105378	root	admin.sock	token	{"nodes":"cn008"}	done
10	1795812105391	root	admin.sock	release	{"nodes":"cn002"}	done
11	1795812105405	root	admin.sock	remove	{"nodes":"cn004"}	done
12	1795812105419	root	admin.sock	revoke	{"nodes":"cn006"}	done
13	1795812105434	root	admin.sock	admin add	{"forMs":1000000000,"name":"lee","role":"read"}	done
14	1795812105447	root	admin.sock	admin add	{"forMs":60000,"name":"kim","role":"operate"}	done
15	1795812105460	root	admin.sock	admin remove	{"name":"kim"}	done
16	1795812105527	root	admin.sock	join	{"forMs":1800000,"nodes":"cn009"}	done
\.


--
-- Data for Name: enrolment_join; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.enrolment_join (node, sha256, until, origin, spent) FROM stdin;
cn005	\\xa4da9790830f4235ca7066fb7a703906b39191f953d53a87ae41ce4edef9a6f8	1795815705000	\N	1795812105112
cn009	\\x2ce4747279e60632a84c6a8f4fc66310e3d2fc2ebfb98c2b2b0e6fc7f3311ea8	1795813905000	\N	1795812105559
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
\\x8e4a9c0379317e07be3f6210028b96df80c005b9a8a37e1ab5a750036e719e27	cn005	1795812105112	1798404105000	\N
\\xaddc71ba0abfbbd987599c993c72d5cf1eabd009b85d80ab42ef03bede3c1b17	cn006	1795812105000	1798404105000	1795812105000
\\x8931892be3f6ff073909f23a0c1f3cefa1925424de6484c99b92de99a97cf298	cn009	1795812105559	1798404105000	\N
\.


--
-- Data for Name: log; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.log (node, run, name, at, bytes) FROM stdin;
cn002	01a21ebe-1a74-7608-af3c-c8f68b29b7f8	03-fails	2026-11-27 20:41:44.878065+00	\\x323032362d31312d32375432303a34313a34342e3836305a207374646f757420462073657474696e672075700a323032362d31312d32375432303a34313a34342e3836305a20657865632046203232373837203232373836207368202d6320276563686f206e6f206469736b203e26323b20657869742037270a323032362d31312d32375432303a34313a34342e3836315a207374646572722046206e6f206469736b0a323032362d31312d32375432303a34313a34342e3836315a20657869742046203232373837203720306d730a
\.


--
-- Data for Name: node; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.node (name, state, due) FROM stdin;
cn001	{"name":"cn001","status":"booted","since":"2026-11-27T20:41:44Z","updatestatus":"synced","lastSeen":"2026-11-27T20:41:44Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a21ebe-1a3a-767a-9880-22cbe171591b","seq":10,"attempt":1,"ended":"success","heard":"2026-11-27T20:41:44Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerun":{"service":"run","run":"01a21ebe-19fb-71fb-88db-1bfaf36ff547","seq":6,"ended":"success","heard":"2026-11-27T20:41:44Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1},"program":"0.1.0","plainHttp":true,"records":{"hour":498836,"inHour":5361,"all":5361}}	\N
cn003	{"name":"cn003","status":"booted","since":"2026-11-27T20:41:45Z","lastSeen":"2026-11-27T20:41:45Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a21ebe-1abd-77ba-a533-eba14cb41aca","seq":6,"attempt":1,"ended":"success","heard":"2026-11-27T20:41:45Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1},"program":"0.1.0","plainHttp":true,"records":{"hour":498836,"inHour":1199,"all":1199}}	\N
cn005	{"name":"cn005","status":"defined","since":"2026-11-27T20:41:45.112896549Z","reported":false,"kickstarted":false,"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":0,"plan":0},"plainHttp":false,"records":{"hour":0,"inHour":0,"all":0}}	\N
cn006	{"name":"cn006","status":"defined","since":"2026-11-27T20:41:45Z","reported":false,"kickstarted":false,"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":0,"plan":0},"plainHttp":false,"records":{"hour":0,"inHour":0,"all":0}}	\N
cn002	{"name":"cn002","status":"failed","since":"2026-11-27T20:41:44Z","lastSeen":"2026-11-27T20:41:44Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a21ebe-1a74-7608-af3c-c8f68b29b7f8","seq":10,"attempt":1,"failure":{"step":{"stage":"fails","args":[]},"cause":"exit","exitCode":7,"errorLine":"4 setup /tmp/.tmpenRE6f/nodes/cn002/state/bundle/fails","errorMessage":"setting up\\nno disk","command":"sh -c 'echo no disk >&2; exit 7'","hint":"see all its output on the node: provost log fails; fix it, then: provost boot --continue"},"ended":"failure","heard":"2026-11-27T20:41:44Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[],"released":"2026-11-27T20:41:45.393304684Z"},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1},"program":"0.1.0","plainHttp":true,"records":{"hour":498836,"inHour":2527,"all":2527}}	\N
cn008	{"name":"cn008","status":"defined","since":"2026-11-27T20:41:45Z","reported":false,"kickstarted":false,"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":0,"plan":0},"plainHttp":false,"records":{"hour":0,"inHour":0,"all":0}}	\N
cn009	{"name":"cn009","status":"booted","since":"2026-11-27T20:41:45Z","lastSeen":"2026-11-27T20:41:45Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a21ebe-1d47-7757-be5e-eec487af4a58","seq":6,"attempt":1,"ended":"success","heard":"2026-11-27T20:41:45Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1},"program":"0.1.0","plainHttp":false,"records":{"hour":498836,"inHour":1196,"all":1196}}	\N
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
1	1	2	381	\\x28b52ffd607e000d0600028e2a1f5049ac03c85a85e03fc0b311218f2b2e1a1271975f7ed1e65c0f523183e8c00baaaabadce3402b8b6270940caf0f477362781d0116ce0a43ad4424a9784832a4c1245ea252dba6340cc88ca692bb2302dd34b09d85bbdfd1ba1f703c3ac1bbd82a850d16b952f292588b6501db2643def456efce203c475f55e6b83b230d73f46e1a7877f47e5ec7003e948487e3dd39be8373f402a5dc2aa78980a5dccd9534dddd595e475e94be420600f9b569840d6bb008889a87eae51e1e62ee01
1	3	10	1703	\\x28b52ffd60ae05050b0016543c22306bac0383db11d5156077fca802dee6cd8eced4d2414cc12f761c50f08811090cab3100320032000ce1d4df4f686a96d7379103f6dccf615cefc0c98aef79f1665f7fd0daaeb68a1928ec58eb704cb1ef19d19bcdd133df104f4078396535c52c4c7238a67807e29c7224ccb20e6678b1b7d4f77192d72fa522fc9e1b295e3f2589f99ee1a320b9afef0e8aadc37ca207bab629df6c80865bfb4644e9994f4ecd35f1d90fba9e17f139f07a86513ac2bee38318d7b567a889137345368d86a8a5d67270c982b426be2892e05549dc81f349d8020bf9ae4e51f6030f4177c1c28bae6adf88886733f455724f57962815272070229160d46e5f9131c197299e0b432305c8d18119a7b2a0de52081a50e0dd99d614b327008a66e1c05c2db7bb0d97843e445b1a467908fd41d03d2e9e2553470bb83edc546b74cb87544d43d040e5b5c08d16850d41f32e03c305558fa905149b7a4c42af195e2cec01
2	1	2	367	\\x28b52ffd607000d50500e24c28205049ac03c8aaa4653cc0b33184b063d80ce9ea1123cd881ae77a908a193a4f0f0955553df850202ecc5270940c2d1e92f8dad0222c24be0ca68e5474329a924b415c16ad552ab22919738b21aacf5702a2e3b8a3e51b2c65741f45b7769b4e612c5def4ad7c8e6736f535b3da3af6a939cff14a7397a73f09c8f1e9f1621c04b1684e7c1f31f6c07c4d10994e255ac6960a5dccd23693a1fc1b4081fb3c42704070028b569500d6bb08821da433fe15e9cadf1bc130a
2	3	6	865	\\x28b52ffd60640225090056123822304b550783eb9f6a552310829e9c3775e70e3db574d00c4753f20c058f1891c0b00a2d002d002f009fd1d42caf772207ecb9dbb3b8fe7193dff7ac68b3af47388e5dc72a76a030632d23618a7dbf806d364368de2188d75eb38cc65916a3794b319a37b00c6e78b1b6d457bf948aee7b76a4787d9ce4f7eca005c97d7d373b37f537fb662604a1e87a4cd966033c2cfb66a204cd2627e79a382b627bdc13f61d5bb4b8ae3d474e9c9a2b62afa01cc87b490f8b2589a2ec09a0826e038606af6adf0ce4d90ddd8ce49eae483bb14128b92b92b8e4674a020ad9ae4a29b6961516005d230b4225121c120cbe5b803f6f19e82b88e9f2d2ddb68de6f179ddd4ced110c76ac2b0d6907598a06b43914406546dc6154640d6313fa13dc42920ef30a1
3	1	2	381	\\x28b52ffd607e00050600b2cd291f5049ac03c85a85e03fc0b311e05b692e061271975bfc4692ff0fc3a84224c00b999969b8c7815616c5e0680ddc87a36162e08e000b5f0553c612c9168ca485b497084e54caa69b187b8b3595dc1d11e8a679ed2cb09b8fd4fde0692b74297cc76e4ac65ae265acc4046b820feab2e6dd1984e7e89ac91c778748c31cbd9be6dd1dbd1fee18000f25e181f1ee30f2c1397a81524e95cb25589b5493b1b9777716ee0817a5af100700f9b569840d6bb008889a875ef70314dae179e71e
3	3	10	1664	\\x28b52ffd608705bd0b0056964222204d550733315bed0fc65bc40938ddc423200803d7917cd3c69ee211a22b000e601a3600390039000f92fbfa6e7e6feaefe73335cbeb99c86acfed1ce97ae74d66f89e1b37fbfa84e35876ec6a084933183390b6daf712e4663304e72502ee91ae6ccf0f13a7e52ab07758986280258c97d79ab1144561b804490c27e098c10bb3e6d8fa3e4ef27ab6567cdf3313c5eb67142ddff383011dd048774554c749aa0915818a91e21831df332c49b0a1af03c7946e36c044b2ef458ce0747262ae0b9fed9eebb989ce79d7f38bd115f61d0313075b4c4190645f000dba0f201c04f1ec88beae7d2f24f7746d8ab556630adbf76242083e5705b662543b4735113a338a4a93853b6f3af90223005f23634a2ea7402d3134520158bf52c1742f2e290be2a51468ff81f86e14077825632c4280f01ea270315dbb25248d3e14ba69189c41288b0855163781f56a80da0254ad16652234a3cb4d2144865e9f0d058d098a371957b880e6cdd4c288cd3a26a1d00c2f36f7
4	1	2	381	\\x28b52ffd607e000d0600b20d2a205049ac03c85a85e03fc0b311a459692e06127117bb111bb2773d48c50c9da70709555535daa3402b8b5270b4076e04d20f1eb86321f16560cad802ae81935cc9e1b260a8528fb4c9985bec50f0ed4940378d6b6779dd7c94da0d185cee58c70cc890440ac8c9d458a916a77ceea5e5a46f670e9ea3af2a83bcfd250d73f46e1af776f47eb823c0431484e7c5b7bfc808e7e8044ab5a49aeec0da4c298dd57dbbb370c7b728fd840700f9b569840d6bb008889a875ef70314dae179e71e
4	3	10	2146	\\x28b52ffd6069077d110076a26324005155070ee5d14426380610e88829d9a6f970f814ef2651e219c691c58942559500c204540059005c0048f3bc05d96817e62dcadd65a56f671445c2bbaf34e5db7bcee8ee0b23065d7e3bf34258f9ee5d555efa76492e735f7ed4f5760af64e775fc76b7ebb44d3b8a5710a13f130c8b2200ea33077bfacd7bc56ec6b04d69be2ce0fd63667f01b5dae6f058aa2300bd4d18ad55bd3f435036c388b3b3fc819fbd12abd55bcf9556fe72abee9edeb908f826f5f28e727dc59beea7a5bdcb792648dde08dc2fa0e9890c98087226082290607a08a4384fed51e8f8d837030b8e129b52525c953964ec5e66de8724d97ecd49c22b4d994cce0284dccbea81e4b23a6157ed65d6dc7d6574a093d27dfbd25ac53741cc62405020c9675913be3d15a7603f0a3971d0f7e614388f7b426c608678bc1b0fc184bbac103de59bb234df2a63cb091184f59c915caa59ebc81e716207cc312bd63c3126bd985b694ab654333959d7abeb64dc9155d563bb3252d256f131b0c0c33a3e961d3001088c4d0aae008308a3f8eeeff8d8fae00338204042428c3959076ef3fbe10450f132081cde80615f4003bda6a15c88502d8452b024e78cdbf6b9f0621880db1f45b9c6403d093918ddda5838e9b4a2d124d28d90c905486328a62ef8a50ba9350a7857a89762375ec0458370c25c0db7bb1d2e297d88f6348c72081d0a41f1b8789e4c7e2d14e7e1a6b7454777481669089aa8bc16b8e14461a4a0012303cc05a5c006164b42d6310985667831be07
5	1	2	381	\\x28b52ffd607e00050600b2cd291f4049b50d796ac6f379e651fa7e4ccab0dd3be032d7d246817685b82a02d2880b999969ecdf40330d63f0a40cdc87a4dd62e07e000b67c5b10c452caa600599823424785998882a3c8ec60e642ddf2b02fd3cada1c675f393ee0f38615d2d59cacd2141148cdc1843a5b1a26b4e156b7eef20444f27329de47ba73cced3fb79daf7e91d71bf00973009917bdfbbc707e8e9056badae4d45c014aaa2a1527d0f35dccf354c5f210700f9b569840d6bb008889a875ef70314dae179e71e
5	3	6	818	\\x28b52ffd603502750800f6503422304ddc06432d46ca32beea3a4cf9ce8ebd03470c3fa818e28bef1a058fb030e818072a0027002b00d0f18be3003df7321ac733dae385eb99615f1f8fb096e652751c2847ca4c8a431dd7379c7dcd0ef32e116c3331e33c36d5f52e828e479472ed7a5e1e77fc7b1e763d37c601e23ebe9b5b8bfafad744cd01bd700ff3168a96a3c21f9ea69fa06fb74de3987a6e1617b123a26fd8b6b9585bb98c1382249b96294a5a02136b29148aa227600aba0d20d6393afc3aa28f4adf0b883b3a0e649228a58e7c8cc334c7f5a07d0d302190fa140060d349ba231258110c8f5b00db5656b1094cb7dd21cd95068c97664ebf6ce0c61a0a0b13346d18485c20d5667c6104641d93506886179b7b
6	1	2	381	\\x28b52ffd607e000d0600b20d2a205049ac03c85a85e03fc0b311218fa4b91848c45dec826c10f97a908a193a4f0f0955552ddea3402b8b5270a40edb88a339396cc742e28db9552843a2d822d91003a66193956a2495cec1e68c95fc1d09e8a681ed2cdcbd47e9ddc0b15dc936b70ee664c6301b6b2ddb425232e4a436e9df9983e7e8862a73fc9d9186397a370dfc3b7a3fdb11800f05e1e1f8778e8b708e4ec0d64beba91a682a53ca42a9fabbb36c475e947e420700f9b569840d6bb008889a875ef70314dae179e71e
6	3	6	815	\\x28b52ffd6032025d080026913422504b9c03633036510b2c9b55c420df53e3c55ed6512ad1163721652e9de4661241182a0029002b000b3dbfc40dd02fc305e3f985d2abb87e1560f3f307aee96aaa98c16369ad94608a5dcf7060f33a4cff21e9b565a54d7631b8d4f531829e17502a2ad7eff2c4e7fb7992eb576118a0e5e799575122bebe9b88034ccf487c988650b43c13de0c9b23e839c286f15cfa6d9618254f847ee170b029e03b9ab29bd66d929e7b2f8d8325dcd30f3004cc050dd0793adbecc04fa567045a8e9ecb29a5d83a969e91661ca679b686603340031112005e234baa231250110c8d5b00d60615d8da4bb7b220cd4dc1a0191a8d3564172668da3090b840aacdf8c208c83a26a1d00c2f36f7
\.


--
-- Data for Name: run; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.run (id, node, run, began, pruned) FROM stdin;
1	cn001	01a21ebe-19b5-7663-af26-5b9b041761e3	1795812104000	f
2	cn001	01a21ebe-19fb-71fb-88db-1bfaf36ff547	1795812104000	f
3	cn001	01a21ebe-1a3a-767a-9880-22cbe171591b	1795812104000	f
4	cn002	01a21ebe-1a74-7608-af3c-c8f68b29b7f8	1795812104000	f
5	cn003	01a21ebe-1abd-77ba-a533-eba14cb41aca	1795812104000	f
6	cn009	01a21ebe-1d47-7757-be5e-eec487af4a58	1795812105000	f
\.


--
-- Data for Name: step; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.step (node, script, ms, cause, since, run) FROM stdin;
cn001	once	2	\N	1	1
cn001	change	5	\N	1	2
cn001	fetch	7	\N	1	3
cn001	last	2	\N	1	3
cn002	change	5	\N	1	4
cn002	fails	4	exit	1	4
cn002	fetch	16	\N	1	4
cn002	once	1	\N	1	4
cn003	fetch	18	\N	1	5
cn003	slow	119	\N	1	5
cn009	fetch	23	\N	1	6
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
\\xa9bd076b596f99df67244b41b99184321d66bd7099936dd858d865cba045d4f9	cn001	\N	\N
\\xad5249cc36b5b97f866118bf7d8dae37464df337a194a539058c86a36c282cc4	cn002	\N	\N
\\xff825cec1e125b4d7019a229851bf8f6c395a64b3c099e4d4e41387dace5af3a	cn003	\N	\N
\\xc97a05b4a0e2e0ca7786293e80c68885f2a7b33cf346805495de8404069340db	cn008	\N	\N
\.


--
-- Data for Name: version; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.version (number) FROM stdin;
10
\.


--
-- Data for Name: watch; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.watch (at) FROM stdin;
2026-11-27 20:41:44.658138+00
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


