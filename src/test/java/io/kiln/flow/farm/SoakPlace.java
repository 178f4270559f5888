// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.farm;

import io.kiln.base.Bytes;
import io.kiln.farm.link.FarmAccess;
import io.kiln.farm.link.FarmAccess.Store;
import io.kiln.process.Command;
import io.kiln.process.ProcessResult;
import io.kiln.process.ProcessRunner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What a soak does to its computers: a second computer, which is a network namespace whose cable is pulled, the broker's disk, which is a small file
 * system in memory, and clocks that jump, by libfaketime. The first two need root. It says what it has to do without.
 */
final class SoakPlace implements AutoCloseable {
    /** The broker's host if there is a second computer. */
    private static final String HOST = "10.213.7.1";

    private static final String NAME = "kiln-soak";
    private static final String CABLE = "kiln-soak0";
    private static final Path FAKETIME = Path.of("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1");
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final Path folder;
    private final boolean hasNetwork;
    private final boolean hasDisk;
    private final boolean hasClock;

    SoakPlace(Path folder, int megabytes) throws IOException {
        this.folder = folder;
        Files.createDirectories(disk());
        end();
        hasNetwork = says(
                "a second computer",
                run("ip", "netns", "add", NAME)
                        && run("ip", "link", "add", CABLE, "type", "veth", "peer", "name", "far", "netns", NAME)
                        && run("ip", "address", "add", HOST + "/30", "dev", CABLE)
                        && run("ip", "link", "set", CABLE, "up")
                        && far("ip", "address", "add", "10.213.7.2/30", "dev", "far")
                        && far("ip", "link", "set", "far", "up")
                        && far("ip", "link", "set", "lo", "up"));
        hasDisk = says(
                "a disk that is full",
                run("mount", "-t", "tmpfs", "-o", "size=" + megabytes + "m", "tmpfs", disk().toString()));
        hasClock = says("clocks that jump", Files.exists(FAKETIME));
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

    private void keys() {
        Path script = Path.of("src/site/resources/farm/farm-tls.sh").toAbsolutePath();
        if (hasNetwork && !run("sh", script.toString(), folder.resolve("keys").toString(), HOST, "member")) {
            throw new IllegalStateException("no keys");
        }
    }

    /** Where the broker listens at first. */
    String url() {
        return hasNetwork ? "tls://" + HOST + ":0" : "tcp://localhost:0";
    }

    /** The folder with the keys; empty if members need none. */
    String keyFolder() {
        return hasNetwork ? folder.resolve("keys").toString() : "";
    }

    /** How somebody gets in, by the keys of a folder or by a password. */
    static FarmAccess access(String keys, String name) throws IOException {
        if (keys.isEmpty()) {
            return BenchWorkerProgram.MEMBER;
        }
        String password = Files.readString(Path.of(keys, "password"));
        return new FarmAccess(
                Optional.of(new Store(Path.of(keys, name + ".p12"), password)),
                Optional.of(new Store(Path.of(keys, "trust.p12"), password)),
                Optional.empty());
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
                    "LD_PRELOAD=" + FAKETIME,
                    "FAKETIME_TIMESTAMP_FILE=" + folder.resolve("clock"),
                    "FAKETIME_NO_CACHE=1",
                    "FAKETIME_DONT_FAKE_MONOTONIC=1"));
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

    /** Fills the broker's disk to its last byte. */
    void fill() {
        if (hasDisk) {
            run("dd", "if=/dev/zero", "of=" + disk().resolve("other"), "bs=64k", "status=none");
        }
    }

    boolean hasDisk() {
        return hasDisk;
    }

    /** Removes what fills it. */
    void free() throws IOException {
        Files.deleteIfExists(disk().resolve("other"));
    }

    /** The names of figures with their values, as Prometheus' own parser reads them; empty if it is not there. */
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

    private void end() {
        run("ip", "netns", "delete", NAME);
        run("ip", "link", "delete", CABLE);
        run("umount", disk().toString());
    }

    @Override
    public void close() {
        end();
    }
}
