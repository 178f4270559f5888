// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.Log;
import java.util.ArrayList;
import java.util.List;

/** Remembers what was said. */
public final class RecordingLog implements Log {
    final List<String> infos = new ArrayList<>();
    final List<String> warnings = new ArrayList<>();

    @Override
    public void info(String line) {
        infos.add(line);
    }

    @Override
    public void warn(String line) {
        warnings.add(line);
    }

    @Override
    public void debug(String line) {}

    /** The warnings since the last time, which are forgotten. */
    public List<String> takeWarnings() {
        List<String> taken = List.copyOf(warnings);
        warnings.clear();
        return taken;
    }

    /** The information lines since the last call. */
    public List<String> take() {
        List<String> taken = List.copyOf(infos);
        infos.clear();
        return taken;
    }
}
