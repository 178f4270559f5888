// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm;

import io.kiln.farm.link.FarmAccess;
import io.kiln.farm.link.FarmAccess.Store;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.link.FarmQueues;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.RunningProcess;
import io.kiln.report.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.qpid.server.SystemLauncher;
import org.apache.qpid.server.SystemLauncherListener;

/**
 * A broker of another make in a process of its own: Apache Qpid Broker-J with a farm's queues as the page "A broker of your own" has them, and their
 * messages in a database.
 *
 * @param process it
 * @param address where it listens
 * @param folder its queues
 */
record QpidBrokerProgram(RunningProcess process, FarmAddress address, Path folder) implements AutoCloseable {
    private static final String PASSWORD = "tea and scones";
    private static final String READY = "ready";

    /** Arguments: the file with its configuration. Ends with its standard input. */
    public static void main(String[] args) throws Exception {
        SystemLauncher launcher = new SystemLauncher(new SystemLauncherListener.DefaultSystemLauncherListener() {
            @Override
            public void errorOnStartup(RuntimeException e) {
                throw e;
            }
        });
        launcher.startup(Map.of(
                "type", "JSON",
                "storePath", args[0] + ".kept",
                "initialConfigurationLocation", args[0],
                "startupLoggedToSystemOut", "false"));
        System.out.println(READY);
        System.in.transferTo(System.out);
        launcher.shutdown();
    }

    /** Starts one without TLS. */
    static QpidBrokerProgram start(Path folder) throws IOException {
        return start(folder, FarmAddress.parse("amqp://localhost:" + freePort(), FarmAccess.by(PASSWORD)), Optional.empty());
    }

    /** Starts one with TLS, and with a key. */
    static QpidBrokerProgram start(Path folder, Store key, FarmAccess members) throws IOException {
        FarmAddress address = FarmAddress.parse("amqps://localhost:" + freePort(), members);
        return start(folder, address, Optional.of(key));
    }

    /** Starts it again in its folder and at its port. */
    QpidBrokerProgram again() throws IOException {
        return start(folder, address, Optional.empty());
    }

    private static int freePort() throws IOException {
        try (ServerSocket unused = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return unused.getLocalPort();
        }
    }

    private static QpidBrokerProgram start(Path folder, FarmAddress address, Optional<Store> key) throws IOException {
        Files.createDirectories(folder);
        Path configuration = folder.resolve("broker.json");
        Json.write(configuration, configuration(folder, address, key));
        RunningProcess process = ProcessRunner.start(Command.ofLine(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx256m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Dslf4j.internal.verbosity=ERROR",
                        "-Dderby.system.home=" + folder,
                        "-Dqpid.work_dir=" + folder,
                        "-cp",
                        System.getProperty("java.class.path"),
                        QpidBrokerProgram.class.getName(),
                        configuration.toString()))
                .within(Duration.ofMinutes(30)));
        BufferedReader said = new BufferedReader(new InputStreamReader(process.output(), StandardCharsets.UTF_8));
        for (String line = said.readLine(); !READY.equals(line); line = said.readLine()) {
            if (line == null) {
                throw new IOException("the broker did not start");
            }
        }
        return new QpidBrokerProgram(process, address, folder);
    }

    private static Map<String, Object> configuration(Path folder, FarmAddress address, Optional<Store> key) {
        List<Map<String, Object>> queues = new ArrayList<>();
        for (String name : FarmQueues.ALL) {
            Map<String, Object> queue = new HashMap<>(Map.of("name", name, "durable", true));
            if (name.equals(FarmQueues.JOBS)) {
                queue.put("type", "priority");
            }
            if (name.equals(FarmQueues.FAILURES)) {
                queue.put("overflowPolicy", "RING");
                queue.put("maximumQueueDepthMessages", 100);
            }
            queues.add(queue);
        }
        Map<String, Object> host = Map.of(
                "type", "DERBY",
                "storePath", folder.resolve("messages").toString(),
                "queues", queues);
        Map<String, Object> port = new HashMap<>(Map.of(
                "name", "farm",
                "type", "AMQP",
                "port", address.port(),
                "bindingAddress", "127.0.0.1",
                "authenticationProvider", "members",
                "protocols", List.of("AMQP_1_0"),
                "virtualhostaliases", List.of(Map.of("name", "any", "type", "hostnameAlias"))));
        Map<String, Object> broker = new HashMap<>(Map.of(
                "name", "team",
                "modelVersion", "9.1",
                "ports", List.of(port),
                "authenticationproviders",
                        List.of(Map.of(
                                "name", "members",
                                "type", "Plain",
                                "users", List.of(Map.of("name", "kiln", "type", "managed", "password", PASSWORD)))),
                "virtualhostnodes",
                        List.of(Map.of(
                                "name", "farm",
                                "type", "JSON",
                                "storePath", folder.resolve("host.json").toString(),
                                "defaultVirtualHostNode", true,
                                "virtualHostInitialConfiguration", Json.line(host)))));
        key.ifPresent(store -> {
            port.put("transports", List.of("SSL"));
            port.put("keyStore", "key");
            broker.put(
                    "keystores",
                    List.of(Map.of(
                            "name", "key",
                            "type", "FileKeyStore",
                            "storeUrl", store.file().toString(),
                            "keyStoreType", "PKCS12",
                            "password", store.password())));
        });
        return broker;
    }

    /** Ends it at once, as the power's end would. */
    void kill() {
        ProcessHandle.of(process.pid()).ifPresent(ProcessHandle::destroyForcibly);
        process.close();
    }

    @Override
    public void close() {
        process.close();
    }
}
