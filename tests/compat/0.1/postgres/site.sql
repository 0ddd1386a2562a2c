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
lee	read	\\xffb0060dd069d2101081728ae0a44a8c26da5dfe8d9067d1ba1b5c1ad3725aca	1795854776000	1796854776000
\.


--
-- Data for Name: audit; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.audit (id, at, who, source, action, request, result) FROM stdin;
1	1795854776092	root	admin.sock	token	{"force":true,"missing":false,"nodes":"cn001"}	done
2	1795854776103	root	admin.sock	token	{"force":true,"missing":false,"nodes":"cn002"}	done
3	1795854776113	root	admin.sock	token	{"force":true,"missing":false,"nodes":"cn003"}	done
4	1795854776647	root	admin.sock	token	{"force":true,"nodes":"cn004"}	done
5	1795854776658	root	admin.sock	token	{"nodes":"cn008"}	done
6	1795854776669	root	admin.sock	release	{"nodes":"cn002"}	done
7	1795854776679	root	admin.sock	remove	{"nodes":"cn004"}	done
8	1795854776691	root	admin.sock	revoke	{"nodes":"cn006"}	refused: no node was revoked: unknown cn006
9	1795854776701	root	admin.sock	admin add	{"forMs":1000000000,"name":"lee","role":"read"}	done
10	1795854776711	root	admin.sock	admin add	{"forMs":60000,"name":"kim","role":"operate"}	done
11	1795854776720	root	admin.sock	admin remove	{"name":"kim"}	done
12	1795854776776	root	admin.sock	join	{"forMs":1800000,"nodes":"cn009"}	done
13	1795854776865	root	admin.sock	join	{"forMs":3600000,"nodes":"cn005"}	done
14	1795854776917	root	admin.sock	approve	{"node":"cn006"}	done
15	1795854776942	root	admin.sock	enroll open	{"forMs":3600000,"nodes":"cn007"}	done
16	1795854776961	root	admin.sock	enroll close	{}	done
\.


--
-- Data for Name: enrolment_join; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.enrolment_join (node, sha256, until, origin, spent) FROM stdin;
cn009	\\xda804f15f2c04076bfdc454a3d1212da8672a2441d2c39512a158c1897539a66	1795856576000	\N	1795854776805
cn005	\\xee5c2b460a9eb617e7a4368ac23a1d3c5c25ece866455820ebd9c33f13ae3f8e	1795858376000	\N	1795854776881
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
\\x1f73dad95280befd55155e5da444e6f574a31f1fc280cdb41f83007990bb3eac	cn009	1795854776805	1798446776000	\N
\\x43cae0780421c1001d50ab9bf601c99c227d615d205af50fd35f4f541e481a8b	cn005	1795854776881	1798446776000	\N
\\x09cfa78a0bc408741d86f3a3d4be2698eca166696e6181ef783e96ed99d61f4a	cn006	1795854776000	1798446776000	\N
\.


--
-- Data for Name: log; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.log (node, run, name, at, success, bytes) FROM stdin;
cn002	01a22149-37f7-72b0-b315-1f07e1512be0	03-fails	2026-11-28 08:32:56.358877+00	f	\\x323032362d31312d32385430383a33323a35362e3334305a207374646f757420462073657474696e672075700a323032362d31312d32385430383a33323a35362e3334315a20657865632046203136363533203136363532207368202d6320276563686f206e6f206469736b203e26323b20657869742037270a323032362d31312d32385430383a33323a35362e3334315a207374646572722046206e6f206469736b0a323032362d31312d32385430383a33323a35362e3334315a20657869742046203136363533203720306d730a
\.


--
-- Data for Name: node; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.node (name, state, due) FROM stdin;
cn001	{"name":"cn001","status":"booted","since":"2026-11-28T08:32:56Z","updatestatus":"synced","lastSeen":"2026-11-28T08:32:56Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a22149-37c0-75f2-b312-0d0557d28540","seq":10,"attempt":1,"ended":"success","steps":3,"heard":"2026-11-28T08:32:56Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerun":{"service":"run","run":"01a22149-3780-755e-9418-5acff4ccf80c","seq":6,"ended":"success","steps":1,"heard":"2026-11-28T08:32:56Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1,"keys":["0CE9A5A46CB1B269"]},"program":"0.1.0","plainHttp":true,"records":{"hour":498848,"inHour":5445,"all":5445,"recordsInHour":26,"runsInHour":3}}	\N
cn003	{"name":"cn003","status":"booted","since":"2026-11-28T08:32:56Z","lastSeen":"2026-11-28T08:32:56Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a22149-3834-7067-be58-786357527603","seq":6,"attempt":1,"ended":"success","steps":1,"heard":"2026-11-28T08:32:56Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1,"keys":["0CE9A5A46CB1B269"]},"program":"0.1.0","plainHttp":true,"records":{"hour":498848,"inHour":1227,"all":1227,"recordsInHour":6,"runsInHour":1}}	\N
cn008	{"name":"cn008","status":"defined","since":"2026-11-28T08:32:56Z","reported":false,"kickstarted":false,"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":0,"plan":0},"plainHttp":false,"records":{"hour":0,"inHour":0,"all":0,"recordsInHour":0,"runsInHour":0}}	\N
cn002	{"name":"cn002","status":"failed","since":"2026-11-28T08:32:56Z","lastSeen":"2026-11-28T08:32:56Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a22149-37f7-72b0-b315-1f07e1512be0","seq":10,"attempt":1,"failure":{"step":{"stage":"fails","args":[]},"cause":"exit","exitCode":7,"errorLine":"4 setup /tmp/.tmpiKpsDb/nodes/cn002/state/bundle/fails","calledFrom":"7 main /tmp/.tmpiKpsDb/nodes/cn002/state/bundle/fails","errorMessage":"setting up\\nno disk","command":"sh -c 'echo no disk >&2; exit 7'","hint":"see all its output on the node: provost log fails; fix it, then: provost boot --continue"},"ended":"failure","steps":4,"heard":"2026-11-28T08:32:56Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[],"released":"2026-11-28T08:32:56.669953009Z"},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1,"keys":["0CE9A5A46CB1B269"]},"program":"0.1.0","plainHttp":true,"records":{"hour":498848,"inHour":2624,"all":2624,"recordsInHour":10,"runsInHour":1}}	\N
cn009	{"name":"cn009","status":"booted","since":"2026-11-28T08:32:56Z","lastSeen":"2026-11-28T08:32:56Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a22149-39d6-7360-ad74-45d08a780ff0","seq":6,"attempt":1,"ended":"success","steps":1,"heard":"2026-11-28T08:32:56Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1,"keys":["0CE9A5A46CB1B269"]},"program":"0.1.0","plainHttp":false,"records":{"hour":498848,"inHour":1224,"all":1224,"recordsInHour":6,"runsInHour":1}}	\N
cn005	{"name":"cn005","status":"defined","since":"2026-11-28T08:32:56.881841829Z","reported":false,"kickstarted":false,"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":0,"plan":0},"plainHttp":false,"records":{"hour":0,"inHour":0,"all":0,"recordsInHour":0,"runsInHour":0}}	\N
cn006	{"name":"cn006","status":"defined","since":"2026-11-28T08:32:56Z","reported":false,"kickstarted":false,"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":0,"plan":0},"plainHttp":false,"records":{"hour":0,"inHour":0,"all":0,"recordsInHour":0,"runsInHour":0}}	\N
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
1	1	2	381	\\x28b52ffd607e00150600b24d2a205049ac03c85a85e03fc0b311e0db141746ec38b505bf11c9b91ea46206d181010baaaabadae3402b8b6270c406d787a36162701d01165e104c2d4e09130ec902315e2697a8546339197b053354f27644a09be6b5b3c06e77b4ed07cad4dbc49aa8dd5ccf78f90e55244c454a432db35b7d3b83f01c7d5599e3ed106998a377d3bcb7a3f7e33a06c0434978607c3b8ceee01cbd60118d53634ac0387773b1f2db9dc575848bd257080700f9b569840d6bb008889a875ef70314dae179e71e
1	3	10	1731	\\x28b52ffd60ca05cd0b0066954124208b3a0767dbdb6a3ba6b5166382dd99062e300177b8078ff7fd64fc5a880100c2001c0f350037003900d777338457df7d5257b3bc5e8a1ce0cefd1c8feb1d7032e3eedc78b3af3f6818d714f7acc1d312c692a66dbbfba37ab3b99ae61b024c49f18aae8abbc23e4bc494b68c85b1a489a02889e0e224ac384a022dacb5c7f6eef192d7b3dd08efce9215af9f9615dd9de1b420b903d5445d9729df6c8008c3dc5b11ad693e7949d7c5673fea7a6ec4e780d7338cd6e250d3100c91689603738006127b04f78670427cd4e3cadc0311a62cdb859e659dc6b4145f5559f0ea2cee80f349d8020df9ae4d531e77c444d05dc0f0aa8a6743fabaeead90dcd7b531bbdbd833a7282070221999db0d5f9131319829d60b43e305d4f3a81967b2a0de52085a50e8dd99f614b327008a66f2a9b9dad8125e8bc9f421daa7619487d01f04dde3e2493275b4a0354505c8982ef9903169085a507915b8098ec2ada0152f03cb05d0a29a0a0beb2fe7486d97844c44de214001
2	1	2	367	\\x28b52ffd607000cd0500e20c281f6049ab03f611441bf8f6ab05769f4f7f7029e04b698d8849d73e0bd660039f89dddd35fa5260264a52f0c306370f6fc268705316125f8a25838bc8ca21ba907668e162d26d8895b163b196e2fb48c06498e307f50ddeb2f85e8af139a50ca5a650a9a5cb56a12d216687f67d8e7697f73e4498e5e7cb41f3fef96cdc9400f025080d94ef43e90e889f1318aab968b6038c15213578f97d84e2a6844a329f10070028b569500d6bb08821da433fe15e9cadf1bc130a
2	3	6	893	\\x28b52ffd608002e50900b6133d23206baa0ec78623aa3b2bdf986131a7b6b00b2c8c7d0643cee343c997df1208002c00f3300032003600b1eaefeb5435d3af3f9303f6dc30727c3d8a95a1efb9016b7ffd6051d621f63183e790d690c531f7bd43c2da2ca57a8788fd42640f8a3181a00815e4b5a441585118843d06813449730e36f65d6f8ccdf83d3fd4fcfaace8f71c2506cafdf56e8e01529abe924a616d800766dfcea4a40a69f57c31ce8d09a3c878b33845532c9624a1249a81053bc2be1fac30e1e4f86a7b9e9e59257c050f4c5b987b6faf9008ba0b1aa0fc62fb7624d77e743b94bbfa4afa99504a2a7e298c538e2a25d0a0f08b31e6da6bfb76aa1417005d230b2226128c120cbe5b002cace2088870a6cbc07a5b349a776779d33047431cab09c376435665821e2c8a24329006cb4c5061f5991c59edfa094210e7ddbcc3dc03
3	1	2	381	\\x28b52ffd607e00150600b24d2a205049ac03c85a85e03fc0b311e09a88aa4eb9a9889156b452be1ea46206d181010baaaa5af0e3402b8b6270b406d707a46162701d0116ce56238a55c92ef7923de348e51222d5489bad1dac194472fe13e8a639da5960b73b4afc032556dbc7d6d2a7b9491db9c962a90853691069d7253d9f41788e9e5419e47cf81ae6e8dd34c7f9e8fdb88e011051121e18cf87d11d9ca317148b57715382b6995216ab7bbeb3b88e7051fa0a010700f9b569840d6bb008889a875ef70314dae179e71e
3	3	10	1692	\\x28b52ffd60a3056d0c0096974724206d9d03333196c21bac29214eb01f01c8400299e87cacb07cfb5dde142121418024400439003e0040007b86f181e2bebe9b21acfafb0955cdd4f58ee4b5e77ecf74fd0327337ccf8f37fbfa046659976cc3101a87b486308eb9efa7e8cde628ce4b04ec0afb8ee006f9a0e9daf60c39b25ab8267b07a62c8d7314cbc21c86b8962c208e6151200c2a1264a134e75e63dfcb8ababe3126e1f7ec48f2fa29490b0fcaac9615b5665c024b4a8ba5e47ceff034c586be2ecaa4de6c808966df0d29c5f9a8cab93a3efb41d7f343be075ecf504a8e2f18c7680c024619580616050401130a6b4c4b9a3d231a741f40bc28e2d9117d65fb6e50dcd5b52d1863ae356ddf8d19a3085d9bd8cb59fd9ef590f199925caa70fc81f351b0031ed47b24201014430ce478df7498ca9314c4c5d058015863a9e0dc8b4b59106f29d0f8407c477180978cb14280b04314c6746d2524a30f859e86c109a12c0a551625b05e03d40354698ba241339a258510815e0f88828da01420e3c205b7e2980f09e04fe5486897844644dee14201
4	1	2	381	\\x28b52ffd607e000d0600b20d2a205049ac03c85a85e03fc0b311a4d9141746ec38b525ec13c9b91ea46206d181010baaaa6ab0c7815616c5e0880dad0f483f68681d0116ae8a45189c20172d49951c2e538344eab19c6b39b50e029e3d11e8a671ed2cafbb1d2dfb813ec75bec530a378b4d2ed5b14a0555ca8358e6b67a7606e1393aab32c8d95fd23047efa6716747efa7750c788892f0bc78f617dbc1397a8151304e6c29c1e2dc4d8395cfee2cade35b94be420700f9b569840d6bb008889a875ef70314dae179e71e
4	3	10	2243	\\x28b52ffd60ca07bd120026256c2500915607ce2c5b91d288e4c88f2846791879f5856fabde190114c0ed6b569c28545509604c5d00630063008d793407856114176122958883991034e760637f9f53fdba636cc6bfaf43e7d79b52cadf374a8cbafc75e68d71e2bf3734f1d6af3b73d5fb327ca4af3fb1b7f2f7b5c0e6af4b401ecf399e8445481cd31a0371ccfd5d8a60f346b2af1130fa62effc106d73067fd5e5e9ebc118734dd23292d0174157d80cb0e1da3b3f4c2a1bd6c9f9aa783384bece908495afaf65c2277e7de3a4159f401c42434880101c3c0e260b09ec13ef9cb1161342d2577b5fc89913e5cbf17ec196e2daa36d8455027f7fcbcb4e307e45125a5ef66b62c1d251744e0a69529629bb9799f7a169b66173d3f03a74361405961aa414f5402345dd2869ea6545f0f79dd2a1d25af7eb5b2748c28a04d2260e87336114d1f815a9f8131bd6c88da5c22f88e3217947900dcc10971b1237f13e2788a6f38b35c7bed3943d696418d59452e63ead564b75911555a02c1452cd14835649bd75e854fbb49a54f524f54415b7541004d5ee948fb390840c53c24845fe1ed1cae02c04c1f87581886a795955e0020c94a24f5c011519f5703b20502231642cebb3f3fb211650013908dede00842fa03fcf1c83312e90b46a66b792ab88b3b900233bca86d564612f283e94e51a23f55cccc1f66863e164d3fad693c83742402e4719434d71c1ef5d48ad28ec5da14e8add7f018fc6e182b97a6e771f2e197d88d66918e5103a1441f5b878924c3e2d1467c24d6f8b8eee9033d2103451792570331885df8276b00c7017801ed04048047f344772bb248422f20e130a
5	1	2	381	\\x28b52ffd607e000d0600b20d2a1f5049ac03c85a85e03fc0b311e09b88aa4eb9a98891ed5f295f0f523183e8c00baaaacaf871a0954531385ac3ebc3d13031bc8e000b6fcb116c55b2eb21d990c248f51222b5489bce19cd1544723e22d04d63b4b3c0ee7794f80730b2b6ab2dc55c4bb7a0918d694b4239950591765fd2f31984e7e84a9539ce8748c31cbd9bc6381fbd9fd731001e4ac203e3f930be8373f402b678153b25709b29255bddf39de575848bd257080700f9b569840d6bb008889a875eae0650b5c8f34e28
5	3	6	846	\\x28b52ffd60510225090056523924208b5807675c8e28aba1ef89b14be0332455c006ce311865b4f2cb4ff1088100c002300f2e002d0032009fcfd42c5dff901cb0e78e90c8f5906632c2f79c10675f6ff0dcb2b6501540a6aca53ca6d8f71128ce66c8997f080a74ec5098a7186569b0298865311697fa5e4ed2f54d29d97ccf8f485e3fa3c8f13d370e83c47d7d3737cdd4df9133a3343dae8d37444f378e784cb1148bb7245c0221b0503fd8b78415647c22d7b5e7e72127c7b5ed17b81fc31ce3da834c13c5de730dee15ce4037814384ae6adf0c88674bfa2a714f57a79c528a2d381dc879aecb94e26c80c95afb66c8140060d3499a2412c8110c8f5b00b5adb8aa094cb71d23db4d6dd00c959709dc7443e16482162c06121740836526a8b0fe4c8e2c4d885089c83b4c28
6	1	2	381	\\x28b52ffd607e000d0600b20d2a1f5049ac03c85a85e03fc0b311646d795c03467493ed3ed17ad78354cc203a300bbbbbbbdee740230962f0930cdc87a3a334704f8085b3a2a99508990a86caa0339460a9741d4ada9ac19a53f2ef50a097c5682689ddfc83de0f56ca6d8cdbc242a962907517c1744147a853282546fb7705a1f9b9db558ebf47b8283fef6531fe7ede0df70c880792d0c4f9f738f9c0fcbc60152f11af2d414b8a90aeb4e9ef4cc23d6382f415020700f9b569840d6bb008889a875ef70314dae179e71e
6	3	6	843	\\x28b52ffd604e021d090046923924308b380743cbffaaa5dd7737180a3b18343b2a3b561320693f6bbf9b6d2981c12012a5022e002c00310033aa9aa9af47c9017b6ee8787cddf14c6e7ccf0870f6d70ddeb22ed9460b1ac75a63cfa9fbfe21c1d92c41f30d014c844c5fc2b0179d84394a730e36fd5e56d4d71d55f97ccf71925f9fd3c4f89e1f6881e2fe7a373f4fd5df0790aae2d7e2b361b4b8f31ca221124f392c074720a13fd8378413248c1e5f6dcf519415e32bd92b68a3a10d031b8d8bc29411e6254ab3474003dd040c50927836a4bf74df0a8abbfa5a54d5b5a6ed5b3121098abe9449c1d90011e7f6ad9013340313005ed3498a2412c0110c8d5b0039575161dc40479d205b4ac1a03d1a4d37644f2668c162207101345866820aebcfe4c86a97848288bcc38402
\.


--
-- Data for Name: run; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.run (id, node, run, began, pruned) FROM stdin;
1	cn001	01a22149-373e-74cb-b9b6-114f0231b480	1795854776000	f
2	cn001	01a22149-3780-755e-9418-5acff4ccf80c	1795854776000	f
3	cn001	01a22149-37c0-75f2-b312-0d0557d28540	1795854776000	f
4	cn002	01a22149-37f7-72b0-b315-1f07e1512be0	1795854776000	f
5	cn003	01a22149-3834-7067-be58-786357527603	1795854776000	f
6	cn009	01a22149-39d6-7360-ad74-45d08a780ff0	1795854776000	f
\.


--
-- Data for Name: step; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.step (node, script, ms, cause, since, run) FROM stdin;
cn001	once	2	\N	1	1
cn001	change	4	\N	1	2
cn001	fetch	8	\N	1	3
cn001	last	1	\N	1	3
cn002	change	3	\N	1	4
cn002	fails	3	exit	1	4
cn002	fetch	12	\N	1	4
cn002	once	1	\N	1	4
cn003	fetch	11	\N	1	5
cn003	slow	105	\N	1	5
cn009	fetch	22	\N	1	6
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
\\x230d3c5cfbc3821c8795ba7deb83f6e082adf9378a65324ed769f3176254bdbf	cn001	\N	\N
\\xd9cb8144ea68809bba0ab8091f6dfe43977ea34e398bbd3023bb4e2992a112e5	cn002	\N	\N
\\x0e60709abd05eda300704e342d661e9c4328d688f8b9dfa56d4edf91f8bccf05	cn003	\N	\N
\\x1bb83bd2101de62227ac1d9a247d87d0478296dbe06b21758c6cfbe965805290	cn008	\N	\N
\.


--
-- Data for Name: version; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.version (number) FROM stdin;
12
\.


--
-- Data for Name: watch; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.watch (at) FROM stdin;
2026-11-28 08:32:56.15373+00
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


