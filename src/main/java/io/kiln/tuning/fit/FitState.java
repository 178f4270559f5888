// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.fit;

import io.kiln.tuning.fit.FitTable.Option;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A choice that changes, with its cycles and bytes of flash; a change costs as much time as its option has parts. Not thread-safe. */
final class FitState {
    private final FitTable table;
    private final List<Integer> choice;
    private final Map<String, Integer> users = new HashMap<>();
    private long cycles;
    private long flash;

    FitState(FitTable table, List<Integer> choice) {
        this.table = table;
        this.choice = new ArrayList<>(choice);
        this.cycles = table.rest().cycles();
        this.flash = table.rest().flash();
        for (int i = 0; i < choice.size(); i++) {
            add(option(i));
        }
    }

    private Option option(int layer) {
        return table.layers().get(layer).options().get(choice.get(layer));
    }

    /** Takes another option for a layer, and returns the one before. */
    int take(int layer, int option) {
        int before = choice.get(layer);
        if (before != option) {
            remove(option(layer));
            choice.set(layer, option);
            add(option(layer));
        }
        return before;
    }

    private void add(Option option) {
        cycles += option.cycles();
        option.parts().forEach((part, bytes) -> {
            if (users.merge(part, 1, Integer::sum) == 1) {
                flash += bytes;
            }
        });
    }

    private void remove(Option option) {
        cycles -= option.cycles();
        option.parts().forEach((part, bytes) -> {
            if (users.merge(part, -1, Integer::sum) == 0) {
                flash -= bytes;
            }
        });
    }

    long cycles() {
        return cycles;
    }

    long flash() {
        return flash;
    }

    List<Integer> choice() {
        return List.copyOf(choice);
    }
}
