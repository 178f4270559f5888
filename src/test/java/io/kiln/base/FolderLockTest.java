// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FolderLockTest {
    @TempDir
    Path folder;

    private final List<String> heard = Collections.synchronizedList(new ArrayList<>());

    @Test
    void whoWaitsHearsWhoHoldsItAndGoesOnWhenItIsFree() throws InterruptedException {
        CountDownLatch waiting = new CountDownLatch(1);
        FolderLock first = take("kiln:compile", Duration.ofSeconds(30), new CountDownLatch(1));
        Thread second = new Thread(
                () -> take("kiln:link", Duration.ofSeconds(30), waiting).close());
        second.start();
        waiting.await();
        assertThat(second.isAlive()).isTrue();
        first.close();
        second.join();
        assertThat(heard)
                .containsExactly(
                        "kiln:compile, process " + ProcessHandle.current().pid());
    }

    @Test
    void whoRunsOutOfPatienceIsToldWhoHoldsIt() {
        FolderLock first = take("kiln:run", Duration.ZERO, new CountDownLatch(1));
        assertThatThrownBy(() -> take("kiln:link", Duration.ZERO, new CountDownLatch(1)))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("another build works here: kiln:run, process ")
                .hasMessageContaining(folder.toString());
        first.close();
        take("kiln:link", Duration.ZERO, new CountDownLatch(1)).close();
    }

    /** Another process holds it, and dies without a word. */
    @Test
    void theSystemReleasesTheLockOfAProcessThatDies() throws IOException, InterruptedException {
        Path program = Files.writeString(folder.resolve("Holder.java"), """
            import java.nio.channels.FileChannel;
            import java.nio.file.*;
            class Holder {
              public static void main(String[] words) throws Exception {
                Path file = Path.of(words[0]);
                FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                channel.lock();
                Files.writeString(Path.of(file + ".holder"), "kiln:compile, process 7\\n");
                System.out.println("held");
                Thread.sleep(600_000);
              }
            }
            """);
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        Process other = new ProcessBuilder(
                        java.toString(),
                        program.toString(),
                        folder.resolve("x.lock").toString())
                .redirectErrorStream(true)
                .start();
        try {
            assertThat(other.inputReader(StandardCharsets.UTF_8).readLine()).isEqualTo("held");
            assertThatThrownBy(() -> take("kiln:link", Duration.ZERO, new CountDownLatch(1)))
                    .hasMessageContaining("kiln:compile, process 7");
        } finally {
            other.destroyForcibly().waitFor();
        }
        take("kiln:link", Duration.ZERO, new CountDownLatch(1)).close();
    }

    /** POSIX takes a lock from a process that closes another channel to the file: neither waiting threads nor readers may. */
    @Test
    void noOtherProcessGetsALockThatIsHeld() throws Exception {
        Path program = folder.resolve("Other.java");
        Files.writeString(program, """
            import java.nio.channels.FileChannel;
            import java.nio.file.*;
            class Other {
              public static void main(String[] words) throws Exception {
                FileChannel channel = FileChannel.open(Path.of(words[0]), StandardOpenOption.WRITE);
                System.out.println(channel.tryLock() == null ? "held" : "free");
              }
            }
            """);
        try (FolderLock lock = take("kiln:link", Duration.ZERO, new CountDownLatch(1))) {
            assertThat(lock.isInPlace()).isTrue();
            Path java = Path.of(System.getProperty("java.home"), "bin", "java");
            Process other = new ProcessBuilder(
                            java.toString(),
                            program.toString(),
                            folder.resolve("x.lock").toString())
                    .redirectErrorStream(true)
                    .start();
            assertThat(other.inputReader(StandardCharsets.UTF_8).readLine()).isEqualTo("held");
        }
    }

    @Test
    void aLockWhoseFolderWasDeletedIsOneOnNothing() throws IOException {
        Path inner = folder.resolve("out");
        try (FolderLock first = FolderLock.acquire(inner, "x")) {
            assertThat(first.isInPlace()).isTrue();
            Files.delete(inner.resolve("x.lock"));
            assertThat(first.isInPlace()).isFalse();
            FolderLock.acquire(inner, "x").close();
            assertThat(first.isInPlace()).isFalse();
        }
    }

    private FolderLock take(String purpose, Duration patience, CountDownLatch waiting) {
        return FolderLock.acquire(folder, "x", purpose, patience, holder -> {
            heard.add(holder);
            waiting.countDown();
        });
    }
}
