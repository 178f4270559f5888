// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm;

import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.link.FarmAddress.FarmAccess;
import io.kiln.farm.link.FarmAddress.FarmAccess.Store;
import io.kiln.farm.link.FarmLink;
import io.kiln.farm.link.FarmQueues;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.RunningProcess;
import io.kiln.process.TestPrograms;
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
import org.apache.qpid.server.SystemLauncher;
import org.apache.qpid.server.SystemLauncherListener;

/**
 * A broker of another make in a process of its own: Apache Qpid Broker-J with a farm's queues as the page "A broker of your own" has them, and their
 * messages in a database.
 *
 * @param process it
 * @param address where it listens without TLS
 * @param encrypted where it listens with TLS
 * @param folder its queues
 * @param key with which it proves who it is
 * @param before words of its command line before {@code java}
 */
public record QpidBrokerProgram(
        RunningProcess process, FarmAddress address, FarmAddress encrypted, Path folder, Store key, List<String> before)
        implements AutoCloseable {
    /** What members have to know. */
    public static final String PASSWORD = "tea and scones";

    private static final String READY = "ready";
    private static final long MOST_BYTES = 64 << 20;

    /** Arguments: the file with its configuration. Ends with its standard input. */
    public static void main(String[] args) throws Exception {
        SystemLauncher launcher = new SystemLauncher(new SystemLauncherListener.DefaultSystemLauncherListener() {
            @Override
            public void errorOnStartup(RuntimeException e) {
                throw e;
            }
        });
        launcher.startup(Map.of(
                "type",
                "JSON",
                "storePath",
                args[0] + ".kept",
                "initialConfigurationLocation",
                args[0],
                "startupLoggedToSystemOut",
                "false"));
        System.out.println(READY);
        System.in.transferTo(System.out);
        launcher.shutdown();
    }

    /**
     * Starts one that listens at two ports, one of them with TLS.
     *
     * @param key of the broker
     * @param members how its members get in, by the password
     */
    static QpidBrokerProgram start(Path folder, Store key, FarmAccess members) throws IOException {
        return start(
                List.of(),
                folder,
                key,
                address("amqp://localhost:", FarmAccess.by(PASSWORD)),
                address("amqps://localhost:", members));
    }

    /** Starts it again in its folder and at its ports. */
    public QpidBrokerProgram again() throws IOException {
        return start(before, folder, key, address, encrypted);
    }

    /** An address with a port that is free now. */
    public static FarmAddress address(String before, FarmAccess members) throws IOException {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return FarmAddress.parse(before + free.getLocalPort(), members);
        }
    }

    /**
     * The same at two addresses.
     *
     * @param before words of the command line before {@code java}
     */
    public static QpidBrokerProgram start(
            List<String> before, Path folder, Store key, FarmAddress address, FarmAddress encrypted)
            throws IOException {
        Files.createDirectories(folder);
        Path configuration = folder.resolve("broker.json");
        Json.write(configuration, configuration(folder, key, address, encrypted));
        List<String> line = new ArrayList<>(before);
        line.addAll(TestPrograms.java(
                QpidBrokerProgram.class, "-Dderby.system.home=" + folder, "-Dqpid.work_dir=" + folder));
        line.add(configuration.toString());
        RunningProcess process = ProcessRunner.start(Command.ofLine(line).within(Duration.ofHours(4)));
        BufferedReader said = new BufferedReader(new InputStreamReader(process.output(), StandardCharsets.UTF_8));
        for (String word = said.readLine(); !READY.equals(word); word = said.readLine()) {
            if (word == null) {
                process.close();
                throw new IOException("the broker did not start");
            }
        }
        return new QpidBrokerProgram(process, address, encrypted, folder, key, List.copyOf(before));
    }

    private static Map<String, Object> configuration(
            Path folder, Store key, FarmAddress address, FarmAddress encrypted) {
        List<Map<String, Object>> queues = new ArrayList<>();
        for (String name : FarmQueues.ALL) {
            Map<String, Object> queue = new HashMap<>(Map.of("name", name, "durable", true));
            if (name.equals(FarmQueues.JOBS)) {
                queue.put("type", "priority");
                // As the page says: answers have room on the disk, too.
                queue.put("overflowPolicy", "PRODUCER_FLOW_CONTROL");
                queue.put("maximumQueueDepthBytes", MOST_BYTES);
            }
            if (name.equals(FarmQueues.FAILURES)) {
                queue.put("overflowPolicy", "RING");
                queue.put("maximumQueueDepthMessages", 100);
            }
            queues.add(queue);
        }
        Map<String, Object> host =
                Map.of("type", "DERBY", "storePath", folder.resolve("messages").toString(), "queues", queues);
        Map<String, Object> hostNode = Map.of(
                "name",
                "farm",
                "type",
                "JSON",
                "storePath",
                folder.resolve("host.json").toString(),
                "defaultVirtualHostNode",
                true,
                "virtualHostInitialConfiguration",
                Json.line(host));
        Map<String, Object> account = Map.of("name", FarmLink.USER, "type", "managed", "password", PASSWORD);
        return Map.of(
                "name", "team",
                "modelVersion", "9.1",
                "ports", List.of(port("plain", "TCP", address), port("encrypted", "SSL", encrypted)),
                "authenticationproviders",
                        List.of(Map.of("name", "members", "type", "Plain", "users", List.of(account))),
                "keystores",
                        List.of(Map.of(
                                "name", "key",
                                "type", "FileKeyStore",
                                "storeUrl", key.file().toString(),
                                "keyStoreType", "PKCS12",
                                "password", key.password())),
                "virtualhostnodes", List.of(hostNode));
    }

    private static Map<String, Object> port(String name, String transport, FarmAddress where) {
        Map<String, Object> port = new HashMap<>(Map.of(
                "name",
                name,
                "type",
                "AMQP",
                "port",
                where.port(),
                "bindingAddress",
                where.isLoopback() ? "127.0.0.1" : where.bareHost(),
                "authenticationProvider",
                "members",
                "protocols",
                List.of("AMQP_1_0"),
                "transports",
                List.of(transport),
                "virtualhostaliases",
                List.of(Map.of("name", name, "type", "hostnameAlias"))));
        if (transport.equals("SSL")) {
            port.put("keyStore", "key");
        }
        return port;
    }

    /** Ends it at once, as the power's end would. */
    public void kill() {
        ProcessHandle.of(process.pid()).ifPresent(ProcessHandle::destroyForcibly);
        process.close();
    }

    @Override
    public void close() {
        process.close();
    }
}
