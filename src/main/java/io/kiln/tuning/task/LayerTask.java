// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.task;

import io.kiln.base.Bytes;
import io.kiln.base.Optimize;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.Group;
import io.kiln.ir.Parameter;
import io.kiln.ir.Result;
import io.kiln.ir.type.TensorType;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.reference.Interpreter;
import io.kiln.schedule.Dispatch;
import io.kiln.schedule.LayerChoices;
import io.kiln.schedule.LayerSchedules;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.Workload;
import io.kiln.target.Target;
import io.kiln.tuning.record.TuningRecord.TaskKey;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * A layer whose schedule can be chosen, computed as a whole.
 *
 * @param model the layer as a model of its own
 * @param op the layer
 * @param workload the layer on its core
 * @param key its name in records
 * @param space its configurations
 * @param rule the configuration that is chosen without a measurement
 */
public record LayerTask(
        Function model, FusedOperator op, Workload workload, TaskKey key, TaskSpace space, Configuration rule) {
    /** An input of the layer and the output that it must have. */
    public record Example(Bytes input, Bytes answer) {}

    /**
     * The layers of a model and of the functions that its operators call, equal ones once, in order. Layers without a choice are left out.
     *
     * @param fused the model after fusion
     * @param known choices that are known without a measurement; for other layers the rules choose
     */
    public static List<LayerTask> of(
            Function fused, Target target, Optimize optimize, Objective objective, LayerChoices known) {
        Map<String, LayerTask> tasks = new LinkedHashMap<>();
        fused.functions()
                .forEach(function -> of(function, target, optimize, objective, known)
                        .forEach(task -> tasks.putIfAbsent(task.key().workload(), task)));
        List<FusedOperator> operators = FusedOperator.all(fused, "kiln");
        for (int i = 0; i < operators.size(); i++) {
            FusedOperator op = operators.get(i);
            if (Dispatch.hasChoice(op)) {
                LayerTask task = of(alone(fused, fused.groups().get(i), op), op, target, optimize, objective)
                        .knowing(known);
                if (task.space.configurations().size() > 1) {
                    tasks.putIfAbsent(task.key().workload(), task);
                }
            }
        }
        return List.copyOf(tasks.values());
    }

    private static LayerTask of(
            Function model, FusedOperator op, Target target, Optimize optimize, Objective objective) {
        ConvComputation conv = ConvComputation.of(op);
        Workload workload = new Workload(conv, Rows.whole(op.type().shape()), target.features(), optimize);
        return new LayerTask(
                model,
                op,
                workload,
                TaskKeys.of(op, conv, target, optimize, objective),
                TaskSpace.of(workload),
                LayerSchedules.choose(workload).configuration());
    }

    private LayerTask knowing(LayerChoices known) {
        return known.choose(op, workload)
                .map(choice -> new LayerTask(model, op, workload, key, space, choice.configuration()))
                .orElse(this);
    }

    private static Function alone(Function fused, Group group, FusedOperator op) {
        Map<Integer, Binding> bindings = fused.bindingsById();
        Map<Integer, TensorType> types = fused.types();
        return new Function(
                op.name(),
                op.inputs().stream()
                        .map(id -> new Parameter(id, "input" + id, types.get(id), Optional.empty()))
                        .toList(),
                group.bindings().stream().map(bindings::get).toList(),
                List.of(new Result(op.output(), "output", Optional.empty())));
    }

    /** The type of the only input. */
    public TensorType input() {
        return model.params().get(0).type();
    }

    /** A short name for people, such as {@code conv2d 1x49x10x64 -> 1x25x5x64}. */
    public String title() {
        String template = key.template();
        String family = template.substring(template.indexOf('.') + 1, template.indexOf('.', template.indexOf('.') + 1));
        return family + " " + input().shape().text() + " -> "
                + op.type().shape().text();
    }

    public LoweredOperator lower(Configuration configuration) {
        return LayerSchedules.choice(workload, configuration, "measured")
                .map(choice -> Dispatch.lower(op, workload, choice))
                .orElseThrow(() -> new IllegalArgumentException(configuration.text() + " is not in the space"));
    }

    /** A random input, and what the reference interpreter answers: integers of the whole range of their type, floats from -1 to 1. */
    public Example example(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        TensorType type = input();
        byte[] bytes = new byte[Math.toIntExact(type.bytes())];
        if (type.dtype().isFloat()) {
            ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
            while (buffer.hasRemaining()) {
                buffer.putFloat((float) random.nextDouble(-1, 1));
            }
        } else {
            random.nextBytes(bytes);
        }
        Bytes input = Bytes.wrap(bytes);
        return new Example(input, Interpreter.run(model, List.of(input)).get(0));
    }
}
