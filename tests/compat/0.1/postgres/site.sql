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
lee	read	\\x059345cb805498e641b7ccf3b2b3bb1c54e017cc2b57545b709ca1d7459107e9	1795867182000	1796867182000
\.


--
-- Data for Name: audit; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.audit (id, at, who, source, action, request, result) FROM stdin;
1	1795867179125	root	admin.sock	token	{"force":true,"missing":false,"nodes":"cn001"}	done
2	1795867179234	root	admin.sock	token	{"force":true,"missing":false,"nodes":"cn002"}	done
3	1795867179298	root	admin.sock	token	{"force":true,"missing":false,"nodes":"cn003"}	done
4	1795867182487	root	admin.sock	token	{"force":true,"nodes":"cn004"}	done
5	1795867182553	root	admin.sock	token	{"nodes":"cn008"}	done
6	1795867182591	root	admin.sock	release	{"nodes":"cn002"}	done
7	1795867182649	root	admin.sock	remove	{"nodes":"cn004"}	done
8	1795867182762	root	admin.sock	revoke	{"nodes":"cn006"}	refused: no node was revoked: unknown cn006
9	1795867182823	root	admin.sock	admin add	{"forMs":1000000000,"name":"lee","role":"read"}	done
10	1795867182872	root	admin.sock	admin add	{"forMs":60000,"name":"kim","role":"operate"}	done
11	1795867182927	root	admin.sock	admin remove	{"name":"kim"}	done
12	1795867183495	root	admin.sock	join	{"forMs":1800000,"nodes":"cn009"}	done
13	1795867184296	root	admin.sock	join	{"forMs":3600000,"nodes":"cn005"}	done
14	1795867184573	root	admin.sock	approve	{"node":"cn006"}	done
15	1795867184870	root	admin.sock	enroll open	{"forMs":3600000,"nodes":"cn007"}	done
16	1795867184991	root	admin.sock	enroll close	{}	done
\.


--
-- Data for Name: enrolment_join; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.enrolment_join (node, sha256, since, until, origin, spent) FROM stdin;
cn009	\\x62d70608e58361614b9438e9f20b6ff72ad78bf04d8ac2220222c1ee88c718d9	1795867183000	1795868983000	\N	1795867183842
cn005	\\x4daeff45bd61b4a9b37ecc6873eb12417336f7c18397852b19d4d68386138118	1795867184000	1795870784000	\N	1795867184435
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
\\x9d31850f2e2e089d46cbf3674e335aea3165258a8f55cf1a03a40a1241aaa8bc	cn009	1795867183842	1798459183000	\N
\\x01990bf0736da30446866ce786a40d028933528dd449d60066eaf269203d1cd4	cn005	1795867184435	1798459184000	\N
\\x526a470cd348d55eb50141c0215b91d2a249955e07e8ea6c91d99ebd9385ebe2	cn006	1795867184000	1798459184000	\N
\.


--
-- Data for Name: log; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.log (node, run, name, at, success, bytes) FROM stdin;
cn002	01a22206-7d38-7347-8a73-5a34899358e6	03-fails	2026-11-28 11:59:40.726001+00	f	\\x323032362d31312d32385431313a35393a34302e3633375a207374646f757420462073657474696e672075700a323032362d31312d32385431313a35393a34302e3634395a20657865632046203138373735203138373734207368202d6320276563686f206e6f206469736b203e26323b20657869742037270a323032362d31312d32385431313a35393a34302e3635315a207374646572722046206e6f206469736b0a323032362d31312d32385431313a35393a34302e3635315a20657869742046203138373735203720316d730a
\.


--
-- Data for Name: node; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.node (name, state, due) FROM stdin;
cn001	{"name":"cn001","status":"booted","since":"2026-11-28T11:59:40Z","updatestatus":"synced","lastSeen":"2026-11-28T11:59:40Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a22206-7c39-75cb-9cc0-e4471e18d6cb","seq":10,"attempt":1,"ended":"success","steps":3,"heard":"2026-11-28T11:59:40Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerun":{"service":"run","run":"01a22206-7b61-7505-a0ff-4effa87b672d","seq":6,"ended":"success","steps":1,"heard":"2026-11-28T11:59:40Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1,"keys":["D98E7042EF75A2FB"]},"program":"0.1.0","plainHttp":true,"records":{"hour":498851,"inHour":5455,"all":5455,"recordsInHour":26,"runsInHour":3}}	\N
cn003	{"name":"cn003","status":"booted","since":"2026-11-28T11:59:41Z","lastSeen":"2026-11-28T11:59:41Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a22206-7edc-7692-bb99-21bf8eccf52a","seq":6,"attempt":1,"ended":"success","steps":1,"heard":"2026-11-28T11:59:41Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1,"keys":["D98E7042EF75A2FB"]},"program":"0.1.0","plainHttp":true,"records":{"hour":498851,"inHour":1228,"all":1228,"recordsInHour":6,"runsInHour":1}}	\N
cn008	{"name":"cn008","status":"defined","since":"2026-11-28T11:59:42Z","reported":false,"kickstarted":false,"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":0,"plan":0},"plainHttp":false,"records":{"hour":0,"inHour":0,"all":0,"recordsInHour":0,"runsInHour":0}}	\N
cn002	{"name":"cn002","status":"failed","since":"2026-11-28T11:59:40Z","lastSeen":"2026-11-28T11:59:40Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a22206-7d38-7347-8a73-5a34899358e6","seq":10,"attempt":1,"failure":{"step":{"stage":"fails","args":[]},"cause":"exit","exitCode":7,"errorLine":"4 setup /tmp/.tmpVNhnJJ/nodes/cn002/state/bundle/fails","calledFrom":"7 main /tmp/.tmpVNhnJJ/nodes/cn002/state/bundle/fails","errorMessage":"setting up\\nno disk","command":"sh -c 'echo no disk >&2; exit 7'","hint":"see all its output on the node: provost log fails; fix it, then: provost boot --continue"},"ended":"failure","steps":4,"heard":"2026-11-28T11:59:40Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[],"released":"2026-11-28T11:59:42.597656803Z"},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1,"keys":["D98E7042EF75A2FB"]},"program":"0.1.0","plainHttp":true,"records":{"hour":498851,"inHour":2629,"all":2629,"recordsInHour":10,"runsInHour":1}}	\N
cn009	{"name":"cn009","status":"booted","since":"2026-11-28T11:59:44Z","lastSeen":"2026-11-28T11:59:44Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a22206-8a0c-7573-8b55-09f6b5687589","seq":6,"attempt":1,"ended":"success","steps":1,"heard":"2026-11-28T11:59:44Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1,"keys":["D98E7042EF75A2FB"]},"program":"0.1.0","plainHttp":false,"records":{"hour":498851,"inHour":1227,"all":1227,"recordsInHour":6,"runsInHour":1}}	\N
cn005	{"name":"cn005","status":"defined","since":"2026-11-28T11:59:44.435569253Z","reported":false,"kickstarted":false,"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":0,"plan":0},"plainHttp":false,"records":{"hour":0,"inHour":0,"all":0,"recordsInHour":0,"runsInHour":0}}	\N
cn006	{"name":"cn006","status":"defined","since":"2026-11-28T11:59:44Z","reported":false,"kickstarted":false,"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":0,"plan":0},"plainHttp":false,"records":{"hour":0,"inHour":0,"all":0,"recordsInHour":0,"runsInHour":0}}	\N
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
1	1	2	381	\\x28b52ffd607e00050600b2cd291f4049b50d796ac6f379e651faebdfcbb0dd3be054c766dd5abb425c150169440b999969e8df40330d63f0b40cdb07a579316c3f80853b63391d2fb10a81ab30165d920426ac3544dc528d59b9de09f4f3240d35dcbd4f4a7fe08aa570c81eec708bcc1508f2920732a41d68e45a6b555eef20444f57998e723dbbc7797a3f4f727d7a47db2f80152621e2773dbf3d404f2f684c5ba14a11200b954263e5ba1e6ab61f374c5f210700f9b569840d6bb008889a875ef70314dae179e71e
1	3	10	1735	\\x28b52ffd60ce05dd0b0096154224208b580767db3f6535f43d01ad424e65033747c8f34f5e7f097b705df1088100c002300f350037003a00fd7d374b59f5e16b543553df4fca01f0dcf1817cffc8ca8ec3f323d6fe1ec151a0c340c60e5e4b184b9ab6dae12152accd1254ef10f01c4d5a35be0afcc2641ccc7cd1296ec64499cc4bd8b15ca23cc725cd6aad45b60e4f2bea7bb6169587e739d1efeb34350ecf1262a0381592a0e8bb542ad60678681a83ef059da01aa96a7e19af1da3eff941e323bf674927c6118a36c03845a22dcb259e43f004f88eb0028d11e4cb020faf298b31e7354cb3b866d2284993fc3ac61f5923255be041c56fb33c780454d06dd010a5ef82ef85c4b523fda5b8ab6f5398b556632f282060221119c41b5f91313d9829dc8ba1d10588e838c3d15977c897348206147a77a82d85ed09004743b8c3688d875d0f97441faa2d0da36c84024d503d2e9f93b1a70564371c55cb75c98c8e496dd0400596c05d000a3804b54019d92e8817c35448587f26474ebb248445e41d1414
2	1	2	367	\\x28b52ffd607000cd0500e20c28205049dc06c8aaedd7009a87227009a5b91848c45a8a4f64b1cb4b2e1533880e0c0b9999a9f66ee02dcc6270a4077e88e4b572e0e70016de1477b6e6829302d5508c8d6581ccb016224dd3ea4ebe6f02cf71d851da1f343d143b1056942e505192d148e3c0a4d8812a5595537ed15366937cdfcd698ede203cdfa3bf879f0be8644978da7ddf8e1189a3172cc32e63532240145342a5a9df27187eae99e55d21070028b569500d6bb08821da433fe15e9cadf1bc130a
2	3	6	896	\\x28b52ffd6083022d0a0016943e24208b3a0767dbdb6a3ba6b58651d57cf7b00b4c087b4746826b5dddf56d2106000803703c320033003700fc3c577f3fa9ab595e0f450ed873430972bdf44c8ebee7079c7d3d82835847d9d60e1a97b4962c8eb9ef21159ccdd534ef1097e38ad82f408e591c4c03a3885f12450c260a5398a42d0e265998730e36f6d537c6e2f33d4356bc3e5ef27b7e2606c97d7d776fc69caa89babe29e16c8007f7f6cd88d634a1bca06be3fc88507a1a4f2cdc80c22c14ee3146d138044fd877841522a420d7b6670a8a010f0fd116f69ca5d927a6826e8306585dd9be1915cf8ef455725f57466928c2aab29eabc25ee392a569093c24bc32c65c6bda0619005e230b32261294120cbfab000438e87537bb179f2e87eb6dd168de1de6950640e2a30dced584e1bb21bb32411116851219d0836526a8b0fa4c8eac76fd042188f36ede61ee01
3	1	2	381	\\x28b52ffd607e00fd0500b28d291f6049ab03f631841fffffab055221690f0d35e2d864c65fec987d16ac41038b0955555ded71a0910439f849876dc46b36386c4780c4e15a56c8abf6a94cc5da844e553a036379c08418f37b3b14e86571cd24dcbd3fa81dc1bd050fc4c8508a53df63e95e6124333c2397a69416e9db9584e6e74855796f67b8283fef65716f3fef663b06f043141a8e6fe7b808e6e705aa1a2b1a4204474a8472254d6f6792edc809d25f080700f9b569840d6bb008889a875ef70314dae179e71e
3	3	10	1695	\\x28b52ffd60a605950c0016d84824304d9d0343c796428caee7c491d2764b6c6e9ea0e22427ddf7b7d8ede4634960a0aa92033a003f0041008def19c6088afbfa6e86b0eaef67543553d73f92d79efb418feb2138d9e17b76bcd9d72fb0641d655b53681cd21ab238e6be7f486f364b719e228c41e3149c61df13fc205ff4b8b63d478fac1ad7c51ea20197a769dc9824618441e8200da83088b3800cb230e7dc6bec7b5951d737c624fc9e9f495e3fa729efbaac9615b5665c020bce62c969b19c9eef1f7e3ce2435f9564526f36400593ec9b21a7381f553dd786cf7ed1f5ec900f82d7339453c3090edc80c21c18b88405150e636d5924cd9e20227427483ce9caf6cd9078f6445f29eeeaaa348731e65ad3f6cd98518ad1b589bd9ed50f5a0e19a139c9a54cc321381f053bc0410524201014428ce478e07498ce9314c6c5e05801c4be38ea089c4b99116fa9d17e21be4771809fac712140b84314c674ed2524d187424bc3e008212d842a8b125ca7016a02a85afba73933a22d8510815e138cc2ada0152803eb0268c14c0585f5f77224b44b424544dee14201
4	1	2	381	\\x28b52ffd607e000d0600b20d2a206049ab03f6312431ecff570ba4421f612f5c1944526d9f6c05fb2c588306160109555565ef71a0132539f84986ed03d26c60d88e008943b6ac90772db232156c131ebaf250ce6583093966e4ef50a019e6e846e1eefd41ef088c5ba19c6b4b6d91cad896c6524636058d649a525aa47f5f12103f4faa0bf27786ccf2f36698e3efe78dd88e018c240a088e7fe7b887e6e705ba9e2b1e42042d2542c992a6bf37ca766425e92f040700f9b569840d6bb008889a875ef70314dae179e71e
4	3	10	2248	\\x28b52ffd60cf07fd120076a56d2600719d038e3923e9b4ed0f0863c4b5f6512c1d7ed09fec45e147f6fd9f597112555505aa79015e0065006300f1b13c519496087aa2457aa6688134efbde83487a71976f7d734541e7ea74aefdeb55e1c7ee5d4c096efcebc52667cf8ae325eecee13dd06bf1ca9ebee94ec9d1c7e29b1f9ee130d04230fe83811d25b1c6781bce61dfeb262f35ab3cf110c518996b5cd1b7cd7c0b303b69cdd3d9aa6798ed4d39ad51dd4586c06e8883c079e1d689d1db16cbab37873aceeced58c93bb2f85464ade7d25ad163f903c834724517850132948918453c0f3c662d0585d770efc5613cd2eee1ef80cc84a8f271291a0277cf8f7ac6c16e55d84d0b3b277110c9e53ab94565c59a3d0d9bdccbc0e0cb31d9b198677aa945958a0d483c465f5007359cdb42bebe5061d7ee96cc02a86eddd17cbaa19275223419ef378a2d1b2aabc8b2c4ec98e98648682c53b08f42009fe6032701dcee351c0d30ca22bbd6b9ce679cf37a3b36995cbd2bad60bba5437d7b355e6a411344aad5a73d5a8d8d5e04e95b6a5bad1da3abb3aab8d7bb6aa8a6d974e6ada6a46099dd16ad1e1ad8a49a6adaa28ef2e10b59e956d042fa0a0b54ac915687269543c20502231642cebb7f3fb611650413908e6de80842fa03fcf9c756b32220992a09ad952789573360d606f4919b69a2cec05c587b25c65a45e8c39081f6d2c9e6cdae07a12f94608c8fd2863082a2e00be0ba91585bd2bd549e1fb2fe0d158bed5687d0e8ed16252fa50ed691825114a6441f5b87c928cbe5a00db620d66b60e44d03352103451812570371805e0827ab08c7017841fd04048047f344772bb248422f20e130a
5	1	2	381	\\x28b52ffd607e00050600024e2a206049ab03f631841f4f4fab456442d21e1a6ac4b18921590b19bdf344479480080b9999a9d8e340274a62f0a388ed846b4610db1160e14f2de7e32dd615480db5e8b52c5033ac858ea76931bbb33f8186b035a370f7fe24f6038e3f5f3510e7f8405a52b4566b48973a20f7f88054aaeaa63cfb82d0fcdc90b9b8b3f383cbcf1bc276f6f36eb66300bb24a1e178768e9b607e5e90055b064b89e0509412529a7a7646d98eac247d850600f9b569840d6bb008889a87eae51e1e62ee01
5	3	6	847	\\x28b52ffd6052023d0900b6523a24208b3a07675cb7d3774c6b1d7582dd99062e3021ec1d1909d615a9fccb470800010368782e002e003200fb385dcdd6f311e4803db783449e87bcc88fef39c1c57efe802dfb30db9a81a34a6b4a42997e1fa15c6ca6a4f8874d95e78120459f44a3bc881b25c154d535f63dbcace7118cc1f73d47157c3e5615f43d3f89c1e27ebe9bdfbbfa01d15957f474bca19ada710543059886b1d085350be71938c2be25ac00dd1479b63d4f11bca02762bfc0fdbc53e6f11e3b0f28135544421bc6d92b2482ee0207473dd9be1b14c796f4d3e2be9e4c638c6973a24449d37389968b0d30694bdb77035652140060234ba22412cc110c8f5b00b5adb8aa0955b7f3a1db95068c97665e607671d70d0594096ab018495c200f9699a0c2fa33397c961679b10905
6	1	2	381	\\x28b52ffd607e000d0600b20d2a206049ab03f631841fffffab4508b2443134d48863698dc88c38af1cd28187750209555565ef53a0910429f851876d446c361cb6672171c99655f21a1b0da4165b24a11a0816cea1265572ccf1ef32a09705369370f7fea47703d7d6d1d882cce014ad051b2a8e75a0a8db1053a5d426fdbb72d0fcdca92af1ef2c17e5e7bd2cf0efe7dd6c4f008e0842c3f3ef3c17c1fc9ca0309e5b2fa581a6504a8829557f6792edc909d24f080700f9b569840d6bb008889a875ef70314dae179e71e
6	3	6	846	\\x28b52ffd6051023d0900b6923a24308b380743cbffaaa5dd773718e43b48f21952eae2933462db4d0a6a400e4b48418101152e002e003300fb1955cdd4f58fe4803d777c40ae7f38931ddf73429c7dfd8173cbbc65cc00b684b14469ab7d0f91e26c96a07987cc4ade6b608258de92382bc24459adb5c8d6f7b2a2ae67d692cef7fc4cf2fa394dcdf7ec400c14f7f5ddec38553fcd90133423553dd7c667c7a8f1c4a209bc65a1686e2d0ac80c1c61df11569031825cd99ea34756cd15b15f60e05ba0f21ac5110f8e39a539b84f4004dd050d51baae7d33249e1de92bc55d5d597b6badc620db37634212145ddda4e26c80874541ec0313005f234b9a2412c8110c8e5b80b2ad38aa095cb732a3db4deda0191a5d37645126a8c1622471813c5866820aebcfe4c86a97848288bcc38402
\.


--
-- Data for Name: run; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.run (id, node, run, began, pruned) FROM stdin;
1	cn001	01a22206-7983-70fe-85d3-ad737a8d5f5d	1795867179000	f
2	cn001	01a22206-7b61-7505-a0ff-4effa87b672d	1795867179000	f
3	cn001	01a22206-7c39-75cb-9cc0-e4471e18d6cb	1795867180000	f
4	cn002	01a22206-7d38-7347-8a73-5a34899358e6	1795867180000	f
5	cn003	01a22206-7edc-7692-bb99-21bf8eccf52a	1795867180000	f
6	cn009	01a22206-8a0c-7573-8b55-09f6b5687589	1795867184000	f
\.


--
-- Data for Name: step; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.step (node, script, ms, cause, since, run) FROM stdin;
cn001	once	32	\N	1	1
cn001	change	57	\N	1	2
cn001	fetch	47	\N	1	3
cn001	last	15	\N	1	3
cn002	change	21	\N	1	4
cn002	fails	32	exit	1	4
cn002	fetch	129	\N	1	4
cn002	once	12	\N	1	4
cn003	fetch	141	\N	1	5
cn003	slow	141	\N	1	5
cn009	fetch	367	\N	1	6
cn009	last	21	\N	1	6
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
\\x9b275fa20ba167fb83d14229e665f3533e4a44f5edb7189d7ec5f7f81e03f6f2	cn001	\N	\N
\\xdf3130700865713b94eac02e2c1a0eabc48da7090f0cc1070fd3d9e0e29c7cda	cn002	\N	\N
\\x4577664581855bc9016806390807d4eaef91e05586da136c15a2b9a2e69ef813	cn003	\N	\N
\\xc8cdfbe53b727f44e0cf4645307d50f1330e909b5617b5c1d9812bf44deec9fa	cn008	\N	\N
\.


--
-- Data for Name: version; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.version (number) FROM stdin;
13
\.


--
-- Data for Name: watch; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.watch (at) FROM stdin;
2026-11-28 11:59:44.068854+00
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


