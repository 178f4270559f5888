// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Content of {@code flash.json}: what was written to which device, newest last. */
public final class FlashReport {
    private FlashReport() {}

    /**
     * One attempt at one device.
     *
     * @param image what was to be written
     * @param coordinates {@code group:artifact:version} of the project; null outside of one
     * @param board id of the board
     * @param probe serial number or place of the probe; null if it was not told
     * @param tool program and version
     * @param startedAt ISO 8601, UTC
     * @param seconds wall time
     * @param result {@code flashed}, {@code unchanged} or {@code failed}
     * @param failure class and text of the failure; null if there was none
     */
    @JsonPropertyOrder({"image", "coordinates", "board", "probe", "tool", "startedAt", "seconds", "result", "failure"})
    public record Entry(
            Image image,
            String coordinates,
            String board,
            String probe,
            String tool,
            String startedAt,
            double seconds,
            String result,
            String failure) {}

    /**
     * An image.
     *
     * @param file its name
     * @param sha256 digest of the file, lower-case hex
     * @param bytes bytes that are in flash
     */
    @JsonPropertyOrder({"file", "sha256", "bytes"})
    public record Image(String file, String sha256, long bytes) {}

    /** Adds entries to the file, making it if it is not there. */
    public static void append(Path file, List<Entry> entries) {
        List<Entry> all = new ArrayList<>();
        if (Files.isRegularFile(file)) {
            all.addAll(Arrays.asList(Json.read(file, Entry[].class)));
        }
        all.addAll(entries);
        Json.write(file, all);
    }

    /** Adds a line of JSON for each entry to a file that several builds may share. */
    public static void share(Path file, List<Entry> entries) {
        StringBuilder lines = new StringBuilder();
        entries.forEach(entry -> lines.append(Json.line(entry)).append('\n'));
        try {
            Files.createDirectories(file.toAbsolutePath().getParent());
            // One write in append mode: lines of builds that end together do not mix.
            Files.writeString(file, lines, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new KilnException(
                    new Problem(
                            "the shared log cannot be written: " + e.getMessage(),
                            file.toString(),
                            "a file that this user may append to",
                            "Correct kiln.flash.log"),
                    e);
        }
    }
}
