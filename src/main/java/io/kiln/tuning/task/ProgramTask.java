// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.task;

import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Digests;
import io.kiln.base.Optimize;
import io.kiln.base.ParameterValue;
import io.kiln.ir.Function;
import io.kiln.ir.type.TensorType;
import io.kiln.lower.FusedOperator;
import io.kiln.stream.PlanChoice;
import io.kiln.stream.PlanChoice.Blocks;
import io.kiln.stream.PlanChoice.Order;
import io.kiln.target.Target;
import io.kiln.tuning.record.RecordValue.Numeric;
import io.kiln.tuning.record.RecordValue.Text;
import io.kiln.tuning.record.TuningRecord.Config;
import io.kiln.tuning.record.TuningRecord.Entity;
import io.kiln.tuning.record.TuningRecord.TaskKey;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A whole model as a task: the order of its operators, and the rows that interleaved ones compute in one call. In records it has the template
 * {@code kiln.program.<core>}, and as arguments a digest of its operators and what they read, what the build optimizes for, who owns inputs and
 * outputs, and the objective. The digest knows no weights and no names: models of the same structure share their records.
 *
 * @param function the model after fusion
 * @param target the target of the build
 * @param optimize what the build optimizes for
 * @param io who owns inputs and outputs
 */
public record ProgramTask(Function function, Target target, Optimize optimize, Io io) {
    private static final String FAMILY = "program";
    private static final String ORDER = "order";
    private static final String BLOCKS = "blocks";
    private static final String MEMORY = "memory";

    /** The key under which records have the task. */
    public TaskKey key(Objective objective) {
        return new TaskKey(
                target.text(),
                TaskKeys.PREFIX + FAMILY + "." + TaskKeys.core(target),
                List.of(
                        new Text(Digests.sha256(structure())),
                        new Text(optimize.text()),
                        new Text(io.text()),
                        new Text(objective.text())));
    }

    /** A line for each operator: what it is, the types that it reads and writes, and the numbers of the operators that it reads. */
    private String structure() {
        Map<Integer, Integer> numbers = new HashMap<>();
        function.params().forEach(parameter -> numbers.put(parameter.id(), -1 - numbers.size()));
        StringBuilder lines = new StringBuilder();
        int next = 0;
        for (FusedOperator op : FusedOperator.all(function, FAMILY)) {
            lines.append(op.op()).append(' ');
            lines.append(op.rootTypes().stream().map(TensorType::text).collect(Collectors.joining(" ")));
            lines.append(" -> ").append(op.type().text());
            op.inputs().forEach(id -> lines.append(' ').append(numbers.get(id)));
            lines.append('\n');
            numbers.put(op.output(), next++);
        }
        return lines.toString();
    }

    /** Writes a choice as a record's configuration. */
    public static Config config(PlanChoice choice) {
        List<Integer> memories = PlanChoice.memories();
        int index = memories.indexOf(choice.memory()) * Blocks.values().length
                + List.of(Blocks.values()).indexOf(choice.blocks());
        return new Config(
                (long) index * Order.values().length + List.of(Order.values()).indexOf(choice.order()),
                List.of(
                        Entity.other(ORDER, new Text(ParameterValue.text(choice.order()))),
                        Entity.other(BLOCKS, new Text(ParameterValue.text(choice.blocks()))),
                        Entity.other(MEMORY, Numeric.of(choice.memory()))));
    }

    /** Reads the choice of a record; empty if it is none. */
    public static Optional<PlanChoice> choice(Config config) {
        return PlanChoice.all().stream()
                .filter(choice -> config(choice).entities().equals(config.entities()))
                .findFirst();
    }

    /** A choice as text for the console. */
    public static String text(PlanChoice choice) {
        return Stream.of(
                        ORDER + "=" + ParameterValue.text(choice.order()),
                        BLOCKS + "=" + ParameterValue.text(choice.blocks()),
                        MEMORY + "=" + choice.memory())
                .collect(Collectors.joining(", ", FAMILY + "(", ")"));
    }

    /** A short name for people. */
    public String title() {
        return FAMILY + " " + function.name();
    }
}
