// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.desk;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The labels of a worker's boards and emulators.
 *
 * @param own those of the worker
 * @param slots those of single boards, by their probes, which count before the worker's
 */
public record WorkerLabels(Labels own, Map<String, Labels> slots) {
    private static final Set<String> GIVEN = Set.of("worker", "slot", "board");

    /** Of a worker that has said nothing. */
    public static final WorkerLabels NONE = new WorkerLabels(Labels.NONE, Map.of());

    public WorkerLabels {
        slots = Map.copyOf(slots);
    }

    /**
     * Reads what a worker's owner says: labels, of which some are of a board, as in {@code room=3,0669FF/desk=left}.
     *
     * @param parameter where the text is from
     * @param probes of the worker's boards
     * @throws KilnException with all that is wrong: what is no label or of no board, and labels that the farm gives
     */
    public static WorkerLabels parse(String parameter, String text, Set<String> probes) {
        Map<String, List<String>> texts = new TreeMap<>();
        for (String each : text.isBlank() ? new String[0] : text.split(",", -1)) {
            int slash = each.lastIndexOf('/');
            texts.computeIfAbsent(slash < 0 ? "" : each.substring(0, slash).strip(), probe -> new ArrayList<>())
                    .add(each.substring(slash + 1));
        }
        Problems problems = new Problems(Failure.FARM);
        Map<String, Labels> found = new TreeMap<>();
        texts.forEach((probe, labels) -> problems.collect(() -> {
            if (!probe.isEmpty() && !probes.contains(probe)) {
                problems.add("no board has the probe `" + probe + "`", parameter, "one of " + new TreeSet<>(probes));
            }
            Labels read = Labels.parse(parameter, String.join(",", labels));
            read.values().keySet().stream()
                    .filter(GIVEN::contains)
                    .sorted()
                    .forEach(name -> problems.add(
                            "the label `" + name + "` is given by the farm itself", parameter, "another name"));
            found.put(probe, read);
        }));
        problems.throwIfAny();
        Labels own = found.getOrDefault("", Labels.NONE);
        found.remove("");
        return new WorkerLabels(own, found);
    }

    /**
     * Whether a board or an emulator of the worker has what a job needs. Beside its own labels it has {@code worker}, {@code slot}, {@code board}
     * and, if it does not say otherwise, {@code silicon}: {@code none} for an emulator.
     *
     * @param taker the board or emulator
     * @param board the job's
     */
    public boolean have(Taker taker, String board, Labels needs) {
        if (needs.values().isEmpty()) {
            return true;
        }
        Map<String, String> all = new HashMap<>();
        if (taker.place().equals("emulator")) {
            all.put(Labels.SILICON, "none");
        }
        all.putAll(own.values());
        all.putAll(slots.getOrDefault(taker.slot(), Labels.NONE).values());
        all.put("worker", taker.worker());
        all.put("slot", taker.slot());
        all.put("board", board);
        return new Labels(all).have(needs);
    }
}
