// SPDX-License-Identifier: Apache-2.0
package io.kiln.process;

import io.kiln.base.Digests;
import io.kiln.base.WholeFiles;
import io.kiln.process.ProcessRunner.Executables;
import io.kiln.process.ProcessRunner.ProcessResult;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.InflaterInputStream;

/**
 * Objects and programs that compilers made for tests, kept across runs: compiling takes most of the tests' time. Each is stored by the digest of
 * all that it depends on: the command, the compiler, the C library and the files that it may read. They are still run by every test.
 */
public final class KeptPrograms {

    private static final List<String> READ_BY_NAME = List.of(".c", ".h", ".s", ".S", ".inc", ".ld");
    private static final Path C_LIBRARY = Path.of("/usr/include/features.h");
    private static final String CHECKOUT = Path.of("").toAbsolutePath().toString();

    private static final ProcessResult SUCCESS = new ProcessResult(0, false, "", "", Duration.ZERO);

    /** File systems count time in steps of at most 10 ms: a file that was written within a step may change without another time. */
    private static final long STEP_MILLIS = 100;

    /** Digests of files that this process has read: compilers and headers are those of every program. */
    private static final Map<Read, String> READ = new ConcurrentHashMap<>();

    /**
     * A file as it was read.
     *
     * @param attributes inode, size and the time of the last change of any kind, which programs cannot set
     */
    private record Read(Path file, Map<String, Object> attributes) {}

    private KeptPrograms() {}

    /** Where they are kept, with what else all runs share. */
    public static Path folder() {
        return Path.of(System.getProperty("kiln.test.kept", "target/kept"))
                .toAbsolutePath()
                .normalize();
    }

    /**
     * Runs a command that makes one file, unless the same one has made it before.
     *
     * @param folder where it runs, with sources and headers that belong to this file alone
     * @param output the file that it makes, relative to the folder
     * @return how it ended
     */
    public static ProcessResult make(Path folder, String output, Command command) {
        Command there = command.in(folder);
        Path stored = stored(folder, output, there);
        if (Files.isRegularFile(stored)) {
            take(stored, folder.resolve(output));
            return SUCCESS;
        }
        ProcessResult result = ProcessRunner.run(there);
        if (result.succeeded()) {
            keep(folder.resolve(output), stored);
        }
        return result;
    }

    /**
     * Runs a command that makes nothing, such as a compiler with {@code -fsyntax-only}, unless the same one has succeeded before.
     *
     * @param folder as for {@link #make}
     * @return how it ended
     */
    public static ProcessResult check(Path folder, Command command) {
        Command there = command.in(folder);
        Path stored = stored(folder, "", there);
        if (Files.isRegularFile(stored)) {
            touch(stored);
            return SUCCESS;
        }
        ProcessResult result = ProcessRunner.run(there);
        if (result.succeeded()) {
            WholeFiles.write(stored, "");
        }
        return result;
    }

    private static Path stored(Path folder, String output, Command command) {
        String key = key(folder, output, command);
        return folder().resolve("programs").resolve(key.substring(0, 2)).resolve(key);
    }

    private static String key(Path folder, String output, Command command) {
        StringBuilder inputs = new StringBuilder(output + "\n");
        inputs.append(digests(Executables.find(command.executable()).orElse(Path.of(command.executable()))));
        inputs.append(digests(C_LIBRARY)).append(digests(folder));
        for (String word : command.line()) {
            // Wherever the checkout lies: what a word names counts by its content.
            inputs.append(word.replace(folder.toString(), ".").replace(CHECKOUT, "checkout"))
                    .append('\n');
            Path named = folder.resolve(word.startsWith("-I") ? word.substring(2) : word);
            boolean isElsewhere = !named.startsWith(folder) && Files.exists(named);
            inputs.append(isElsewhere || Files.isRegularFile(named) ? digests(named) : "");
        }
        return Digests.sha256(inputs.toString());
    }

    /** A line for a file, or for each file of a folder that compilers find by its name. */
    private static String digests(Path place) {
        StringBuilder lines = new StringBuilder();
        try (Stream<Path> walk = Files.walk(place)) {
            for (Path file : walk.filter(Files::isRegularFile).sorted().toList()) {
                if (file.equals(place) || READ_BY_NAME.stream().anyMatch(file.toString()::endsWith)) {
                    lines.append(place.relativize(file))
                            .append(' ')
                            .append(digest(file))
                            .append('\n');
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return lines.toString();
    }

    /** The digest of a file's content, computed again only if the file may have changed. */
    private static String digest(Path file) throws IOException {
        if (!file.getFileSystem().supportedFileAttributeViews().contains("unix")) {
            return Digests.sha256(file);
        }
        Instant now = Instant.now();
        Read read = new Read(file, Files.readAttributes(file, "unix:ino,size,ctime"));
        String known = READ.get(read);
        if (known != null) {
            return known;
        }
        String digest = Digests.sha256(file);
        FileTime changed = (FileTime) read.attributes().get("ctime");
        if (changed.toInstant().isBefore(now.minusMillis(STEP_MILLIS))) {
            READ.put(read, digest);
        }
        return digest;
    }

    private static void take(Path stored, Path program) {
        try (InputStream content = new InflaterInputStream(Files.newInputStream(stored))) {
            WholeFiles.writeProgram(program, content.readAllBytes());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        touch(stored);
    }

    /** What was not used for two weeks is deleted. */
    private static void touch(Path stored) {
        try {
            Files.setLastModifiedTime(stored, FileTime.from(Instant.now()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void keep(Path program, Path stored) {
        Deflater quick = new Deflater(Deflater.BEST_SPEED);
        WholeFiles.stream(stored, out -> {
            try (DeflaterOutputStream packed = new DeflaterOutputStream(out, quick)) {
                Files.copy(program, packed);
            }
        });
        quick.end();
    }
}
