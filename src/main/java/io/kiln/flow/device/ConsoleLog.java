// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import io.kiln.base.WholeFiles;
import java.nio.file.Path;
import java.util.function.Consumer;

/** Collects a program's console output, up to a million characters, for a log file. */
final class ConsoleLog implements Consumer<String> {
    private static final int MOST = 1 << 20;

    private final Path file;
    private final StringBuilder text = new StringBuilder();

    ConsoleLog(Path file) {
        this.file = file;
    }

    @Override
    public synchronized void accept(String piece) {
        if (text.length() < MOST) {
            text.append(piece);
        }
    }

    synchronized void write() {
        WholeFiles.write(file, text.toString());
    }
}
