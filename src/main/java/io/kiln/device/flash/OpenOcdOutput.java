// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses OpenOCD's output line by line. Thread-safe. */
final class OpenOcdOutput implements Consumer<String> {
    /** Prefix of the lines that Kiln's own script prints. */
    static final String MARK = "@@kiln ";

    private static final String ERROR = "Error: ";

    private static final Pattern VERIFIED = Pattern.compile("^verified (\\d{1,12}) bytes in .*");
    private static final Pattern NUMBER = Pattern.compile("\\d{1,12}");

    /** Limit of kept lines, because OpenOCD may repeat a line forever: the cause of a failure comes first. */
    private static final int MOST_LINES = 4_000;

    private static final int LONGEST_LINE = 1_000;

    private final FlashProgress progress;
    private final List<String> lines = new ArrayList<>();
    private long verified;
    private boolean isComparing;
    private boolean isUnchanged;
    private boolean hasBegun;
    private boolean hasRun;
    private Optional<String> lastError = Optional.empty();

    OpenOcdOutput(FlashProgress progress) {
        this.progress = progress;
    }

    @Override
    public synchronized void accept(String text) {
        String line = text.substring(0, Math.min(text.length(), LONGEST_LINE)).strip();
        if (line.startsWith(MARK)) {
            mark(line.substring(MARK.length()));
        }
        Matcher matcher = VERIFIED.matcher(line);
        if (matcher.matches()) {
            verified += Long.parseLong(matcher.group(1));
        }
        if (line.startsWith(ERROR)) {
            lastError = Optional.of(line.substring(ERROR.length()));
        }
        // A difference found before anything is written is a result, not a failure.
        if (!isComparing && lines.size() < MOST_LINES) {
            lines.add(line);
        }
    }

    private void mark(String said) {
        String[] words = said.split(" ", -1);
        switch (words[0]) {
            // Complaints during a connection that succeeded do not matter.
            case "connected" -> lines.removeIf(line -> !line.contains("UNEXPECTED:"));
            case "comparing" -> isComparing = true;
            case "compared" -> isComparing = false;
            case "unchanged" -> isUnchanged = true;
            case "begun" -> {
                hasBegun = true;
                progress.erasing();
            }
            case "written" -> {
                if (words.length > 1 && NUMBER.matcher(words[1]).matches()) {
                    progress.written(Long.parseLong(words[1]));
                }
            }
            case "verifying" -> progress.verifying();
            case "running" -> hasRun = true;
            default -> {}
        }
    }

    /** The lines that may report a failure. */
    synchronized List<String> lines() {
        return List.copyOf(lines);
    }

    /** Bytes that the verify command reported as equal. */
    synchronized long verified() {
        return verified;
    }

    /** Whether the device already held the image. */
    synchronized boolean isUnchanged() {
        return isUnchanged;
    }

    /** Whether erasing had started. */
    synchronized boolean hasBegun() {
        return hasBegun;
    }

    /** Whether the image was verified and started, so that all commands finished. */
    synchronized boolean hasRun() {
        return hasRun;
    }

    /** The last line that reports an error. */
    synchronized Optional<String> lastError() {
        return lastError;
    }
}
