# A cache between nodes and provostd, for a rack or a far site: varnishd -a :8480 -f FILE -s malloc,1g, and
# name this machine as the nodes' server. It keeps what is published, which nodes verify themselves; a
# node's plan and its reports it passes on.
vcl 4.1;

backend provostd {
    .host = "10.0.0.1";
    .port = "8480";
}

sub vcl_recv {
    if (req.method != "GET" && req.method != "HEAD") {
        return (pass);
    }
    if (req.url !~ "^/(manifest\.toml|manifests/|objects/|packs/|bin/)") {
        return (pass);
    }
    # Many nodes wait for one request for a file; an older one meanwhile, where there is one.
    return (hash);
}

sub vcl_backend_response {
    # How long something counts is up to provostd. What isn't published yet may be in a moment.
    if (beresp.status != 200) {
        set beresp.ttl = 0s;
        set beresp.uncacheable = true;
        return (deliver);
    }
    # So that it can ask whether something has changed.
    set beresp.keep = 1d;
}
