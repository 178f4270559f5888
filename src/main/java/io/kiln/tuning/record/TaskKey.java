// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.record;

import io.kiln.tuning.record.RecordValue.Items;
import io.kiln.tuning.record.RecordValue.Members;
import io.kiln.tuning.record.RecordValue.Text;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An operator that is tuned, in AutoTVM's terms.
 *
 * @param target target string, such as {@code c -keys=arm_cpu,cpu -mcpu=cortex-m4 -model=stm32f405}
 * @param template name of the schedule's template, such as {@code kiln.conv2d.cortex-m4}
 * @param args shapes and parameters of the operator
 */
public record TaskKey(String target, String template, List<RecordValue> args) {
    public TaskKey {
        args = List.copyOf(args);
    }

    /** Template and arguments as one text, by which records are looked up. */
    public String workload() {
        return new Text(template).text() + ", " + new Items(args).text();
    }

    /** The target's {@code -model}, unless it is unknown. */
    public Optional<String> model() {
        return option("model").filter(model -> !model.equals("unknown"));
    }

    /** The target's {@code -keys}, most specific first. */
    public List<String> keys() {
        return option("keys").map(keys -> List.of(keys.split(","))).orElse(List.of());
    }

    /** The value of an option of the target. The target is not parsed, because logs have targets of all of TVM's code generators. */
    private Optional<String> option(String name) {
        String start = "-" + name + "=";
        return Arrays.stream(target.split("\\s+"))
                .filter(word -> word.startsWith(start))
                .map(word -> word.substring(start.length()))
                .filter(value -> !value.isEmpty())
                .findFirst();
    }

    Items json() {
        return Items.of(new Text(target), new Text(template), new Items(args), new Members(Map.of()));
    }
}
