// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Content of {@code flash.json}: which image was flashed to which device, newest last. */
public final class FlashReport {
    private FlashReport() {}

    /**
     * One attempt at one device.
     *
     * @param coordinates {@code group:artifact:version} of the project; null outside of one
     * @param board id of the board
     * @param probe serial number or place of the probe; null if unknown
     * @param tool name and version of the program
     * @param startedAt ISO 8601, UTC
     * @param seconds wall time
     * @param result {@code flashed}, {@code unchanged} or {@code failed}; {@code interrupted} if the build was stopped;
     *     {@code started} until the attempt ends, and forever if the build was killed
     * @param failure class and text of the failure; null if there was none
     */
    public record Entry(
            Image image,
            @JsonSetter(nulls = Nulls.SET) String coordinates,
            String board,
            @JsonSetter(nulls = Nulls.SET) String probe,
            String tool,
            String startedAt,
            double seconds,
            String result,
            @JsonSetter(nulls = Nulls.SET) String failure) {
        /** A copy with another probe; null if it is unknown. */
        public Entry of(String otherProbe) {
            return new Entry(image, coordinates, board, otherProbe, tool, startedAt, seconds, result, failure);
        }

        /** A copy of the attempt with its end: the seconds that it took, the result and the failure. */
        public Entry ended(double after, String how, String why) {
            return new Entry(image, coordinates, board, probe, tool, startedAt, after, how, why);
        }
    }

    /**
     * The image of an attempt.
     *
     * @param file its name
     * @param sha256 digest of the file, lower-case hex
     * @param bytes number of its bytes in flash
     */
    public record Image(String file, String sha256, long bytes) {}

    /**
     * Adds entries to the file, creating it if it is missing. An unreadable file, as after a power failure, is kept
     * under another name.
     *
     * @return new path of an unreadable file; empty if there was none
     */
    public static Optional<Path> append(Path file, List<Entry> entries) {
        List<Entry> all = new ArrayList<>();
        Optional<Path> kept = Optional.empty();
        if (Files.isRegularFile(file)) {
            Optional<List<Entry>> earlier = read(file);
            earlier.ifPresent(all::addAll);
            kept = earlier.isEmpty() ? Optional.of(keep(file)) : Optional.empty();
        }
        all.addAll(entries);
        Json.write(file, all);
        return kept;
    }

    private static Optional<List<Entry>> read(Path file) {
        try {
            List<Entry> entries = Arrays.asList(Json.read(file, Entry[].class));
            return entries.contains(null) ? Optional.empty() : Optional.of(entries);
        } catch (KilnException e) {
            return Optional.empty();
        }
    }

    private static Path keep(Path file) {
        Path damaged = file.resolveSibling(file.getFileName() + ".damaged");
        try {
            return Files.move(file, damaged, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw FileFailure.of("cannot rename", file, e);
        }
    }

    /** Replaces an entry that was appended before; appends if it is not there any more. */
    public static void replace(Path file, Entry before, Entry after) {
        List<Entry> all = new ArrayList<>();
        if (Files.isRegularFile(file)) {
            read(file).ifPresent(all::addAll);
        }
        int index = all.lastIndexOf(before);
        if (index < 0) {
            all.add(after);
        } else {
            all.set(index, after);
        }
        Json.write(file, all);
    }

    /** Adds a line of JSON for each entry to a file that several builds may share. */
    public static void share(Path file, List<Entry> entries) {
        StringBuilder lines = new StringBuilder();
        entries.forEach(entry -> lines.append(Json.line(entry)).append('\n'));
        try {
            Files.createDirectories(file.toAbsolutePath().getParent());
            // A line truncated by a full disk or a power failure must not damage the next one.
            String start = endsWithinLine(file) ? "\n" : "";
            // One write in append mode, so that lines of concurrent builds do not mix.
            Files.writeString(file, start + lines, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new KilnException(
                    Failure.FILE.problem(
                            "the shared log cannot be written: " + e.getMessage(),
                            file.toString(),
                            "a file that this user may append to",
                            "Correct kiln.flash.log"),
                    e);
        }
    }

    private static boolean endsWithinLine(Path file) throws IOException {
        if (!Files.isRegularFile(file)) {
            return false;
        }
        try (FileChannel channel = FileChannel.open(file)) {
            ByteBuffer last = ByteBuffer.allocate(1);
            return channel.size() > 0 && channel.read(last, channel.size() - 1) == 1 && last.get(0) != '\n';
        }
    }
}
