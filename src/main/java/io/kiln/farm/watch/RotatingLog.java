// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.watch;

import io.kiln.base.FileFailure;
import io.kiln.base.Log;
import io.kiln.base.Printable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.logging.FileHandler;
import java.util.logging.Formatter;
import java.util.logging.Level;
import java.util.logging.LogRecord;

/**
 * A log that also keeps its lines in files, the newest in the one with the number 0. A full disk loses lines there, and nothing else.
 */
public final class RotatingLog implements Log, AutoCloseable {
    private static final int FILES = 5;
    private static final int USUAL_BYTES = 10 << 20;

    private final Log log;
    private final FileHandler file;

    private RotatingLog(Log log, FileHandler file) {
        this.log = log;
        this.file = file;
    }

    /**
     * Opens one with five files of 10 MB.
     *
     * @param log gets the lines, too
     * @param folder of the files
     * @param name of the files, before their numbers
     */
    public static RotatingLog open(Log log, Path folder, String name) {
        return open(log, folder, name, USUAL_BYTES);
    }

    static RotatingLog open(Log log, Path folder, String name, int bytes) {
        try {
            Files.createDirectories(folder);
            String pattern =
                    folder.toAbsolutePath().toString().replace("%", "%%") + "/" + name.replace("%", "%%") + ".%g.log";
            FileHandler file = new FileHandler(pattern, bytes, FILES, true);
            file.setEncoding("UTF-8");
            file.setFormatter(new Lines());
            return new RotatingLog(log, file);
        } catch (IOException e) {
            throw FileFailure.of("cannot write logs into", folder, e);
        }
    }

    private static final class Lines extends Formatter {
        @Override
        public String format(LogRecord line) {
            String level = line.getLevel().equals(Level.WARNING) ? "WARN" : "INFO";
            return Instant.ofEpochMilli(line.getMillis()) + " " + level + " " + Printable.line(line.getMessage())
                    + "\n";
        }
    }

    private void keep(Level level, String line) {
        file.publish(new LogRecord(level, line));
    }

    @Override
    public void info(String line) {
        log.info(line);
        keep(Level.INFO, line);
    }

    @Override
    public void answer(String line) {
        log.answer(line);
    }

    @Override
    public void warn(String line) {
        log.warn(line);
        keep(Level.WARNING, line);
    }

    @Override
    public void debug(String line) {
        log.debug(line);
    }

    @Override
    public void close() {
        file.close();
    }
}
