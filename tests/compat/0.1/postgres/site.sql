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
lee	read	\\x36afb27b2a135f0d1a05e0230656c954426c9fcf0e5bb2628dabcae4e8902d2e	1795824568000	1796824568000
\.


--
-- Data for Name: audit; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.audit (id, at, who, source, action, request, result) FROM stdin;
1	1795824566887	root	admin.sock	token	{"force":true,"missing":false,"nodes":"cn001"}	done
2	1795824566921	root	admin.sock	token	{"force":true,"missing":false,"nodes":"cn002"}	done
3	1795824566996	root	admin.sock	token	{"force":true,"missing":false,"nodes":"cn003"}	done
4	1795824567959	root	admin.sock	join	{"forMs":3600000,"nodes":"cn005"}	done
5	1795824568124	root	admin.sock	approve	{"node":"cn006"}	done
6	1795824568212	root	admin.sock	enroll open	{"forMs":3600000,"nodes":"cn007"}	done
7	1795824568293	root	admin.sock	enroll close	{}	done
8	1795824568722	root	admin.sock	token	{"force":true,"nodes":"cn004"}	done
9	1795824568751	root	admin.sock	token	{"nodes":"cn008"}	done
10	1795824568788	root	admin.sock	release	{"nodes":"cn002"}	done
11	1795824568816	root	admin.sock	remove	{"nodes":"cn004"}	done
12	1795824568848	root	admin.sock	revoke	{"nodes":"cn006"}	done
13	1795824568872	root	admin.sock	admin add	{"forMs":1000000000,"name":"lee","role":"read"}	done
14	1795824568904	root	admin.sock	admin add	{"forMs":60000,"name":"kim","role":"operate"}	done
15	1795824568932	root	admin.sock	admin remove	{"name":"kim"}	done
16	1795824569133	root	admin.sock	join	{"forMs":1800000,"nodes":"cn009"}	done
\.


--
-- Data for Name: enrolment_join; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.enrolment_join (node, sha256, until, origin, spent) FROM stdin;
cn005	\\x8998ddd0bbb0cb1c04d029758f77dbd5f7f60a6a2f0d2223fad6e9144de4d6dc	1795828167000	\N	1795824568009
cn009	\\x668103317ee6e53801652a83a9b1b0d3785e260fb8c7b8b29b4b95da1a12bb9b	1795826369000	\N	1795824569211
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
\\xb6644252fe65f0f56d58ec8c4a8c395472d000acbd37f90faeecd700b9d80539	cn005	1795824568009	1798416568000	\N
\\xa3dc485a52192a128fa9054fcac25322ac332f12f76e8ad8f422c02d145cd1f6	cn006	1795824568000	1798416568000	1795824568000
\\xeccacbf3cd590872a322db6192894ca020dca86f9005d508f4c6ee2e65b14202	cn009	1795824569211	1798416569000	\N
\.


--
-- Data for Name: log; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.log (node, run, name, at, bytes) FROM stdin;
cn002	01a21f7c-44cb-728e-a57f-a8b47618e01c	03-fails	2026-11-28 00:09:27.656869+00	\\x323032362d31312d32385430303a30393a32372e3634305a207374646f757420462073657474696e672075700a323032362d31312d32385430303a30393a32372e3634305a20657865632046203234353237203234353231207368202d6320276563686f206e6f206469736b203e26323b20657869742037270a323032362d31312d32385430303a30393a32372e3634315a207374646572722046206e6f206469736b0a323032362d31312d32385430303a30393a32372e3634315a20657869742046203234353237203720306d730a
\.


--
-- Data for Name: node; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.node (name, state, due) FROM stdin;
cn001	{"name":"cn001","status":"booted","since":"2026-11-28T00:09:27Z","updatestatus":"synced","lastSeen":"2026-11-28T00:09:27Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a21f7c-444a-7636-b7d8-2aa2d22a7d49","seq":10,"attempt":1,"ended":"success","heard":"2026-11-28T00:09:27Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerun":{"service":"run","run":"01a21f7c-43ce-7488-9c12-59cf72a319bb","seq":6,"ended":"success","heard":"2026-11-28T00:09:27Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1},"program":"0.1.0","plainHttp":true,"records":{"hour":498840,"inHour":5366,"all":5366}}	\N
cn003	{"name":"cn003","status":"booted","since":"2026-11-28T00:09:27Z","lastSeen":"2026-11-28T00:09:27Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a21f7c-457e-70c8-a230-64413f93fea2","seq":6,"attempt":1,"ended":"success","heard":"2026-11-28T00:09:27Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1},"program":"0.1.0","plainHttp":true,"records":{"hour":498840,"inHour":1199,"all":1199}}	\N
cn005	{"name":"cn005","status":"defined","since":"2026-11-28T00:09:28.009428399Z","reported":false,"kickstarted":false,"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":0,"plan":0},"plainHttp":false,"records":{"hour":0,"inHour":0,"all":0}}	\N
cn006	{"name":"cn006","status":"defined","since":"2026-11-28T00:09:28Z","reported":false,"kickstarted":false,"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":0,"plan":0},"plainHttp":false,"records":{"hour":0,"inHour":0,"all":0}}	\N
cn002	{"name":"cn002","status":"failed","since":"2026-11-28T00:09:27Z","lastSeen":"2026-11-28T00:09:27Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a21f7c-44cb-728e-a57f-a8b47618e01c","seq":10,"attempt":1,"failure":{"step":{"stage":"fails","args":[]},"cause":"exit","exitCode":7,"errorLine":"4 setup /tmp/.tmpGVbZff/nodes/cn002/state/bundle/fails","errorMessage":"setting up\\nno disk","command":"sh -c 'echo no disk >&2; exit 7'","hint":"see all its output on the node: provost log fails; fix it, then: provost boot --continue"},"ended":"failure","heard":"2026-11-28T00:09:27Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[],"released":"2026-11-28T00:09:28.78943492Z"},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1},"program":"0.1.0","plainHttp":true,"records":{"hour":498840,"inHour":2530,"all":2530}}	\N
cn008	{"name":"cn008","status":"defined","since":"2026-11-28T00:09:28Z","reported":false,"kickstarted":false,"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":0,"plan":0},"plainHttp":false,"records":{"hour":0,"inHour":0,"all":0}}	\N
cn009	{"name":"cn009","status":"booted","since":"2026-11-28T00:09:29Z","lastSeen":"2026-11-28T00:09:29Z","reported":true,"kickstarted":false,"life":{"service":"boot","run":"01a21f7c-4b54-730b-80c0-3bbd2c7a7711","seq":6,"attempt":1,"ended":"success","heard":"2026-11-28T00:09:29Z","limit":{"secs":300,"nanos":0},"reboots":false},"rerunIsNewer":false,"attempts":{"count":0,"newest":[]},"claims":{"status":null,"programs":{}},"seen":{"bundle":1,"plan":1},"program":"0.1.0","plainHttp":false,"records":{"hour":498840,"inHour":1196,"all":1196}}	\N
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
1	1	2	381	\\x28b52ffd607e00050600b2cd291f5049ac03c85a85e03fc0b311646d795c03467493ed3f82ec5d0f523183e8c00baaaa7ab4c7815616c5e0680ddc87a41f34704780852b6315c712700d76a91c43926058a4b2b4b916a2162be0db9d40370dd2cef2baf928b51f106bb03d9c2ec63813534ed5a4d2805b64a2605a4efa7606e1397a526592b73fd73047efa641de8ede0f770c788992f0bcf8f617f9e01cbd406d63da5409d6664a79aceedb9d853bbe45e92b040700f9b569840d6bb008889a875ef70314dae179e71e
1	3	10	1705	\\x28b52ffd60b0054d0b00a6543e23406b9c037bb9da6a2bba533522e84915375939beb37261ed1bbf4755f8a598e3e76b02330033003400ddaeb5a9bf8fd0d40e3eef3c17b077cd0dc7f38d16dde27bc7e0d8cf1f306b99aeaa41b310a59065e9fade11716c173df10d01cf649f902c85adc5d1863146145346541583288b75401ab3508b957eff26f8bc527ded7be748eff928498aef5d7b14a0ebe703aa4b356adf88f8440ff43c44c8b1011e8bb26fc4939ec870729e89c766e879c778dc68cfbbf6a423ecfb31e478aabd839c3729020f7550aa94b16661b44994a49dc75124b5279378a34586ad0518909fcb620bb31f7808ba0b16388a5c6c867eeabe11d0f5f45c8a0626205022318249db015f9131c59729a00b43e30a10e838855927b220df53089a51e0dda1b614b4290010117bad85b19a1cd0de6232fa106d69182520f48782f2b8789a4c1d2d60fdb102b34b5716a46a0a062d341a1db29b04cda70c0c17547da616596cf231096133bcd8dc03
2	1	2	367	\\x28b52ffd607000cd0500e20c281f6049ab03f611441bf8f6ab05769f8ba348099c4b69edc94bd73e0bd660039f89dddd3dfa5260264a52f0c386360f6fc2686853161257c64a0717918d86a84298d3a2c5a4cb10eb5a4e2d96e2fb48c06418f783fa06ce31543456f13143193da66b25a5f015499f8a881bdaf739da5ddefb1061969f2f07cdfbe7b3695302c097203450be0f653b207e4ea0b8d9f6eec06245480f5e7e1fa1b429a192cc2704070028b569500d6bb08821da433fe15e9cadf1bc130a
2	3	6	867	\\x28b52ffd6066023d090026123823406b9c037bb9da6a2b7a77db5048af20af2b20047465b16ee07f8faaf04b31c7cfd7042d002c002f00319a9ae1f3cee3803d377b1ccf3f2d32e37b6eb0d8cf1f2c6b1b5d550366214a2188a5eb7b8763b1d941f10d018cd61c90a55a83308cb220dc1205690b432da6f49b57aaaf7dcf8ef49e7f13fc9e1ba400b99fefe6d6a6fe3e117250f4542264b1011e8dda77e249506470729e8a73e3b1a71d61df8f458ea7da73e4bc69f14cf6098b45a312b6960f7540284cb3ec072082ee8205e69ebaef84e3d80cdd09c83d3db59dc79c93daf3a038e4274a020dc89eaaba141317005e230b52251224120cbf5b00306c71ea2bdce91ed8dd0b8de6dd81dd34ccd110bf9a78985dcc5b43e16182b20d851219d8b51957180159c7fc84f610a780bcc38402
3	1	2	381	\\x28b52ffd607e000d0600b20d2a205049ac03c85a85e03fc0b311e05a50352746542fb81b1bb2773d48c50c9da7070955555dee51a095452938da03370269981cb863217166686a6d91ac815fb2671c5970a2528db4d9dac19aa192bbbf806e9aa39d0576f351723730d463bcfb9679b33d76e42a164b564a25c292b49cf4eeccc173f4a4ca207787af618ede4d73dc1dbd1fee08001105e181f1ee3032c2393a015b67a8531d689b29e55addbb3b0b77848bd24f080700f9b569840d6bb008889a875ef70314dae179e71e
3	3	10	1665	\\x28b52ffd608805c50b0056d64223304dac0343876845da13f6f628d2b8cf7fc209c5705a02f8815838a0e0b906863886013600390039000ff2f5f5ddafb5a8bf9f4dd44f5eefe24bfbd7cc40d7336d3e86ef5f83675f8fa0b05da855ea6061c75a47c214fb1e7278f673e0bc44dc40d7b57f8d8bd1c255b17758204e61c61c6366c7e29485235124cac108821c4d61588c97fa3e46f2faa5546cdf3ff7c4ebe7f32c7cff1a0c010dc9d724758c649a300da4f8a4171ff7bd7b10041bfa2a804cc9b30126148a7d33e20327cbc85d153e9b9beb5f2332d3ae7f2d3e4fd8770c132b516b49943d012ce8368060c779b323faaaf6cd90afa3eb62a194626b59fb664ce8c0e6bac04e2e3533a91121339f98545138d326cbd60123005f2363522ea7482d313452015cbfa2c0743997940ff1521ab4ff407c378a03bc9235162140780f51b898aedd1292461f0add340cce20a445842a8b9be07a35406d01aa568b36119a11e6a6102243afd186c2c604cd9b0c2c5c50f5666a61c4661d93506886179b7b
4	1	2	381	\\x28b52ffd607e000d0600b20d2a206049ab03f631841f4f4fab05769f2886861a71ec2fbd2590d13b4f74c412380109555535daa740274a52f0b3076ec46b180fdcb390f82a9832d610b760042de470c8c051213dd222c6dc62878a6f47025a4ad78c02bbf927b51bbca490256329c718c55530826c17724f29f4564ccb49dfbe1c343f5fd5e5bd1d2272f9794be9de7ede0df704802f4168e07c3b9c8c607e4eb0b61dda5407d8a29490b1ba6f6714ee0995a49f100700f9b569840d6bb008889a875ef70314dae179e71e
4	3	10	2149	\\x28b52ffd606c07b5110006a365250071ac038e393711f9a41c096308f292cde7c3d157bc9bb4eb209e18d5d8c882ffbfab820956005a005f008ca34062d328d1893806baf6f759abb333adcdf8f785e83c7b530af9fb4689512d9f9d7963acfcf7962a6f757668ee7a5f861175f628f646febe12d87c7609877905edb506f1308a73ca8369ccdfa90936ef24fb1a01d3b4cd197cd6ded9a15aae670c416b8d718f7b6787969394ce9aae6033c046e37867874965c3aa4267156f86d2d959923072f6954c18c5b36f9cf413ef3ca1449db9f795a05921678ef78be8da3eeee13490072a1187002afb044e42cbc99e1558b084169d9382aa4b3265f732f33a2ccb366c5e165e88ce25129180442c50530f2cd4d4cba26a2fafe6ef3b654345ab6acfbe5595248c3c4fe31e47e36068c269a2f1cca978141b5691174905cf1e0fc77947900ccc0f13181bcdb989f7591f9aceb3e60adcb74ed9934645594d29646ed48bb55c131959064b42a5d54c316845adb7109d6ba35e93aeae5457bab8e59224b876a78ca0952454600167b59cec3260020ed6a2515c81159515f1dfdf72b215c6b33720404262cc18da0170f3fd90c2a988b908206600b12f408362d4542e44a816022959e6399bb65d2ebe200660fba3305719a937610e4a471b4b279b76b49e44be11527203ca1892890b80d985d48482de95eaa6e01d2f001169af7530569b035cb798943e44cb348c52840ea9a0785c3c4f268f16c4595101664cb77c48f6340c5ad168f8901d2968c0c90077412950030b2321eb9884be195e6cee01
5	1	2	381	\\x28b52ffd607e000d0600b20d2a205049ac03c85a85e03fc0b311a45950352746542fb806b252be1ea46206d181010baaaa5ab8c7815616c5e0680ddc07a41f347047808533a2ad62155c8293648971a462b8528db4d9dac19ab1e0dd13816e9aa39de575f351723f587e501950a5b58a54b59c0d51968f112b1106d372d2bb3308cfd1952a83dcfd250d73f46e9ae3eee8fd70c780872809cf8b777f910fced10bd83a439d2a41db4c298bd5bdbbb370c7b7287d850700f9b569840d6bb008889a875ef70314dae179e71e
5	3	6	818	\\x28b52ffd6035027d080056913522504b9c03e3b2b0ab165836ab602f6d3d8a9f55b08e5205fdacfdee8f7444570dd1612b0029002e00cdd2f30ce4803db75b309e5fbcc8cdf79ce0623f6fa0b045e8aa162c4cada51a53f63d0372b11972e21f02aa285612443da559cc2dfd1e4ed2f3872a7cdf3313c1e7631429bee7e72c48dccf77f37b537f1f9f29000d44d97702464e74d2c43c11ce103dfd837d43f7309e6bcf0f0327c5f3d82b30c7cd81688e85204de9c19c5a5e8da6acb5a4297b0167a09ba0c14110c776e8a7ee3b21714fcf84ad4455d95ad6be13d1819ce78944c9c50e120060234bba231258110c8f5b00daa65430aea023599026a560d01e8dc61ab20b13346d18485c20d5667c6104641d93506886179b7b
6	1	2	381	\\x28b52ffd607e00150600b24d2a205049ac03c85a85e03fc0b311e0f78a8b86444c0b597b04d9bb1ea46206d181010baaaa7af0e3402b8b6270b486d687d73031b48e000b57c62a8e2592351a920a612e899614a92c6daee5d46245723e22d04de3da5960773b4afc8394946aea2de21c91fa74a553426561b8229f4ad2b6a4e73308cfd1992af3ce8748c31cbd9bc69d8fde4feb18009f92f0c0783e8cede01cbd802d33655582b599521eab7bbeb3b48e7051fa0a010700f9b569840d6bb008889a875ef70314dae179e71e
6	3	6	815	\\x28b52ffd6032026d080036113522306bdc0683db718515e87750564117f7519765edf08a29221e1b580a1e30228161152a0029002c002b1ddfbc0dd02f3746e37886eb5d5cbf09adf9788385e9929a5990606a2d95b064d737a0d6bc90d377080a41308872ca62b1b6f2fa3749c72f99cf5dbf4df48eef2862ae5fe72c48cbc733af73135fdfcfc401899e152f72ba4953734478737b7ea0e7d79ec671e9f769dec41c0fbdc25a8ad214c71a863954ba4c28260f250f2b6147a2e8059c01660286061d53cf0a689b1bf8282d4fc70591996c25969e15ed40ce73445a6acd000f4712005ed349aa231250110c8d5b00adadb8a90946b7f221cd4dc3a0191a8d3564172668da3090b840aacdf8c208c83a26a1d00c2f36f7
\.


--
-- Data for Name: run; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.run (id, node, run, began, pruned) FROM stdin;
1	cn001	01a21f7c-42f5-7100-a091-a9980d629523	1795824567000	f
2	cn001	01a21f7c-43ce-7488-9c12-59cf72a319bb	1795824567000	f
3	cn001	01a21f7c-444a-7636-b7d8-2aa2d22a7d49	1795824567000	f
4	cn002	01a21f7c-44cb-728e-a57f-a8b47618e01c	1795824567000	f
5	cn003	01a21f7c-457e-70c8-a230-64413f93fea2	1795824567000	f
6	cn009	01a21f7c-4b54-730b-80c0-3bbd2c7a7711	1795824569000	f
\.


--
-- Data for Name: step; Type: TABLE DATA; Schema: provost; Owner: -
--

COPY provost.step (node, script, ms, cause, since, run) FROM stdin;
cn001	once	2	\N	1	1
cn001	change	10	\N	1	2
cn001	fetch	33	\N	1	3
cn001	last	9	\N	1	3
cn002	change	34	\N	1	4
cn002	fails	19	exit	1	4
cn002	fetch	34	\N	1	4
cn002	once	2	\N	1	4
cn003	fetch	74	\N	1	5
cn003	slow	125	\N	1	5
cn009	fetch	63	\N	1	6
cn009	last	9	\N	1	6
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
\\x09414e5ff0d117be0dbe7aa890661135c46d355a8c1e3391cce08ddab6dbbfce	cn001	\N	\N
\\x58fd8b9715575bf1412477afe32059cf62cdb1237c134871b1a23d45478cf060	cn002	\N	\N
\\xe9e70dfb444e487a6aef2f73d3d1b60632adced53426143140224063b1cf193e	cn003	\N	\N
\\x763cfb219bd6171a6a7b74c13087589538e9196d5ae453d5dd72264cc20d471a	cn008	\N	\N
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
2026-11-28 00:09:27.135836+00
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


