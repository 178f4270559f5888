// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.base.WholeFiles;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Keeps what a console says for a file, and says in problems which console it was. */
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

    /** The same problems with the port's name where they only say "console". */
    static KilnException located(KilnException e, String port) {
        List<Problem> problems = new ArrayList<>();
        for (Problem each : e.problems()) {
            problems.add(
                    each.where().equals("console")
                            ? new Problem(each.what(), port, each.expected(), each.next())
                            : each);
        }
        KilnException located = new KilnException(problems);
        located.initCause(e);
        return located;
    }
}
