// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** A log for tests that keeps what people and those who act on it would read; lines for debugging are dropped. */
public final class KeptLog implements Log {
    private final List<String> said = Collections.synchronizedList(new ArrayList<>());
    private final List<String> answers = Collections.synchronizedList(new ArrayList<>());
    private final List<String> warnings = Collections.synchronizedList(new ArrayList<>());

    @Override
    public void info(String line) {
        said.add(line);
    }

    @Override
    public void answer(String line) {
        said.add(line);
        answers.add(line);
    }

    @Override
    public void warn(String line) {
        said.add(line);
        warnings.add(line);
    }

    @Override
    public void debug(String line) {}

    /** All lines, the warnings among them; clearing it forgets them. */
    public List<String> said() {
        return said;
    }

    /** What a quiet build prints, too. */
    public List<String> answers() {
        return answers;
    }

    /** The warnings alone. */
    public List<String> warnings() {
        return warnings;
    }
}
