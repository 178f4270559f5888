// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.farm;

import io.kiln.base.Bytes;
import io.kiln.farm.QpidBrokerProgram;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.link.FarmAddress.FarmAccess;
import io.kiln.farm.link.FarmAddress.FarmAccess.Store;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.commons.io.FileUtils;

/**
 * What a soak does to its computers: a second computer, which is a network namespace whose cable is pulled, the broker's disk, which is a small file
 * system in memory, and clocks that jump, by libfaketime. The first two need root. It says what it has to do without.
 */
final class SoakPlace implements AutoCloseable {
    /** Two soaks of a computer have different networks. */
    private static final long OWN = ProcessHandle.current().pid();

    private static final String NETWORK = "10.213." + OWN % 250 + ".";
    private static final String HOST = NETWORK + "1";
    private static final String SOAK = "kiln-soak-";
    private static final String NAME = SOAK + OWN;
    private static final String CABLE = "kiln" + OWN;
    private static final Optional<Path> FAKETIME = Stream.of("x86_64-linux-gnu", "aarch64-linux-gnu")
            .map(computer -> Path.of("/usr/lib", computer, "faketime", "libfaketimeMT.so.1"))
            .filter(Files::exists)
            .findFirst();
    private static final Path NETWORKS = Path.of("/run/netns");
    private static final Path MOUNTS = Path.of("/proc/mounts");
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final Path folder;
    private final boolean hasNetwork;
    private final boolean hasDisk;
    private final boolean hasClock;

    SoakPlace(Path folder, int megabytes) throws IOException {
        this.folder = folder;
        Files.createDirectories(disk());
        leftovers();
        hasNetwork = says(
                "a second computer",
                run("ip", "netns", "add", NAME)
                        && run("ip", "link", "add", CABLE, "type", "veth", "peer", "name", "far", "netns", NAME)
                        && run("ip", "address", "add", HOST + "/30", "dev", CABLE)
                        && run("ip", "link", "set", CABLE, "up")
                        && far("ip", "address", "add", NETWORK + "2/30", "dev", "far")
                        && far("ip", "link", "set", "far", "up")
                        && far("ip", "link", "set", "lo", "up"));
        hasDisk = says(
                "a disk that is full",
                run("mount", "-t", "tmpfs", "-o", "size=" + megabytes + "m", NAME, disk().toString()));
        hasClock = says("clocks that jump", FAKETIME.isPresent());
        jump(0);
        keys();
    }

    private static boolean says(String what, boolean is) {
        System.out.println((is ? "With " : "WITHOUT ") + what);
        return is;
    }

    private static boolean run(String... line) {
        try {
            ProcessResult result =
                    ProcessRunner.run(Command.ofLine(List.of(line)).within(PATIENCE));
            return result.exitCode() == 0;
        } catch (RuntimeException e) {
            return false;
        }
    }

    private static boolean far(String... line) {
        List<String> all = new ArrayList<>(List.of("ip", "netns", "exec", NAME));
        all.addAll(List.of(line));
        return run(all.toArray(new String[0]));
    }

    /** Removes the networks and disks of soaks that were killed; their programs have ended with them. */
    private static void leftovers() throws IOException {
        try (Stream<Path> networks = Files.exists(NETWORKS) ? Files.list(NETWORKS) : Stream.of()) {
            networks.map(network -> network.getFileName().toString())
                    .filter(SoakPlace::isLeft)
                    .forEach(name -> run("ip", "netns", "delete", name));
        }
        for (String mount : Files.readAllLines(MOUNTS)) {
            String[] words = mount.split(" ", -1);
            if (isLeft(words[0])) {
                run("umount", words[1]);
            }
        }
    }

    private static boolean isLeft(String name) {
        return name.matches(SOAK + "[0-9]+")
                && ProcessHandle.of(Long.parseLong(name.substring(SOAK.length())))
                        .isEmpty();
    }

    private void keys() {
        Path script = Path.of("src/site/resources/farm/farm-tls.sh").toAbsolutePath();
        if (!run("sh", script.toString(), keyFolder(), host(), "member")) {
            throw new IllegalStateException("no keys");
        }
    }

    /** The broker's host. */
    String host() {
        return hasNetwork ? HOST : "localhost";
    }

    /** The folder with the keys. */
    String keyFolder() {
        return folder.resolve("keys").toString();
    }

    /** How somebody gets into a farm: by a key of a folder, to a broker of another make by a password, or without keys by a password. */
    static FarmAccess access(String url, String keys, String name) throws IOException {
        if (keys.isEmpty()) {
            return BenchWorkerProgram.MEMBER;
        }
        boolean isForeign = url.startsWith("amqp");
        Optional<Store> trust = Optional.of(store(keys, "trust"));
        return new FarmAccess(
                isForeign ? Optional.empty() : Optional.of(store(keys, name)),
                trust,
                isForeign ? Optional.of(QpidBrokerProgram.PASSWORD) : Optional.empty());
    }

    /** An address on a computer that is busy with everything else, too. */
    static FarmAddress address(String url, String keys, String name) throws IOException {
        return FarmAddress.parse(url, access(url, keys, name)).within(PATIENCE);
    }

    /** A store of a folder with keys. */
    static Store store(String keys, String name) throws IOException {
        return new Store(Path.of(keys, name + ".p12"), Files.readString(Path.of(keys, "password")));
    }

    /** The broker's disk. */
    Path disk() {
        return folder.resolve("disk");
    }

    /** The words before a command of the first or the second computer, whose clock may jump. */
    List<String> on(boolean isFar) {
        List<String> words = new ArrayList<>(isFar && hasNetwork ? List.of("ip", "netns", "exec", NAME) : List.of());
        if (hasClock && !isFar) {
            words.addAll(List.of(
                    "env",
                    "LD_PRELOAD=" + FAKETIME.orElseThrow(),
                    "FAKETIME_TIMESTAMP_FILE=" + folder.resolve("clock"),
                    "FAKETIME_CACHE_DURATION=5",
                    "FAKETIME_DONT_FAKE_MONOTONIC=1",
                    // Without it, a JVM's waits with a limit end at once.
                    "FAKETIME_FORCE_MONOTONIC_FIX=0"));
        }
        return words;
    }

    /** Sets the clock of the first computer, in seconds from the right time. */
    void jump(int seconds) throws IOException {
        Path next = Files.writeString(folder.resolve("clock.next"), (seconds < 0 ? "" : "+") + seconds + "\n");
        Files.move(next, folder.resolve("clock"), StandardCopyOption.ATOMIC_MOVE);
    }

    /** Pulls the cable between the computers for some time. */
    void cut(Duration time) throws InterruptedException {
        if (hasNetwork) {
            run("ip", "link", "set", CABLE, "down");
            Thread.sleep(time.toMillis());
            run("ip", "link", "set", CABLE, "up");
        }
    }

    /** Fills the broker's disk until some megabytes are left, or to its last byte; again if the broker has made room since. */
    void fill(int left) throws IOException {
        long megabytes = (Files.getFileStore(disk()).getUsableSpace() >> 20) - left;
        if (hasDisk && (left == 0 || megabytes > 0)) {
            run(Stream.of(
                            "dd",
                            "if=/dev/zero",
                            "of=" + disk().resolve("other"),
                            "bs=1M",
                            "status=none",
                            "oflag=append",
                            "conv=notrunc",
                            left == 0 ? "" : "count=" + megabytes)
                    .filter(word -> !word.isEmpty())
                    .toArray(String[]::new));
        }
    }

    boolean hasClock() {
        return hasClock;
    }

    boolean hasDisk() {
        return hasDisk;
    }

    /** Removes what fills it. */
    void free() throws IOException {
        Files.deleteIfExists(disk().resolve("other"));
    }

    /** The names of figures with their values, as Prometheus' own parser reads them. */
    static List<String> parsed(String figures) {
        String program = "import sys\n"
                + "from prometheus_client.parser import text_string_to_metric_families as read\n"
                + "for family in read(sys.stdin.read()):\n"
                + "  for sample in family.samples:\n"
                + "    print(sample.name, ','.join(k + '=' + v for k, v in sorted(sample.labels.items())),"
                + " sample.value)\n";
        ProcessResult result = ProcessRunner.run(Command.of("/usr/bin/python3", "-c", program)
                .reading(Bytes.ofText(figures))
                .within(PATIENCE));
        if (result.exitCode() != 0) {
            throw new IllegalStateException("Prometheus' parser refuses the figures: " + result);
        }
        return result.output().lines().toList();
    }

    /** Ends it all; the logs of the broker stay in {@code target/farm-soak}. */
    @Override
    public void close() throws IOException {
        Path logs = disk().resolve("farm").resolve("log");
        if (Files.exists(logs)) {
            FileUtils.copyDirectory(
                    logs.toFile(), Path.of("target", "farm-soak").toFile());
        }
        run("ip", "netns", "delete", NAME);
        run("umount", disk().toString());
    }
}
