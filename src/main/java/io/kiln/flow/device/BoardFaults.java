// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.device.probe.Faults;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Faults to inject into virtual boards: {@code [<board>/]<fault>}, separated by commas; without a board name, the fault
 * applies to all.
 */
final class BoardFaults {
    private static final String WHERE = "kiln.probe.faults";

    private BoardFaults() {}

    /**
     * The faults of each board.
     *
     * @param names the boards' names
     * @throws KilnException if there is no such board or no such fault
     */
    static Map<String, Faults> parse(String text, List<String> names) {
        Map<String, StringBuilder> texts = new LinkedHashMap<>();
        names.forEach(name -> texts.put(name, new StringBuilder()));
        for (String each : text.split(",", -1)) {
            int slash = each.indexOf('/');
            List<String> meant =
                    slash < 0 ? names : List.of(each.substring(0, slash).strip());
            for (String name : meant) {
                if (!texts.containsKey(name)) {
                    throw new KilnException(Failure.DEVICE.problem(
                            "there is no virtual board '" + name + "' for the fault",
                            WHERE,
                            "one of " + String.join(", ", names),
                            "Name the boards with kiln.probe"));
                }
                texts.get(name).append(each.substring(slash + 1)).append(',');
            }
        }
        Map<String, Faults> faults = new LinkedHashMap<>();
        texts.forEach((name, list) -> faults.put(name, Faults.parse(list.toString(), WHERE)));
        return faults;
    }
}
