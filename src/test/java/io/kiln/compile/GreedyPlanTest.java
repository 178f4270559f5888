// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Optimize;
import io.kiln.executor.PlannedModule;
import io.kiln.frontend.tflite.MadeUpNetworks;
import io.kiln.lower.LoweredOperator;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.NeedsShared;
import io.kiln.stream.StoredValue;
import io.kiln.stream.StoredValue.Place;
import io.kiln.target.TestTargets;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * With inputs and outputs in the workspace, no network takes more of it than an arena that is planned greedily, largest tensor first, over all tensors,
 * inputs, outputs and scratch, as TensorFlow Lite Micro plans its own.
 */
class GreedyPlanTest {
    private static final int ALIGNMENT = 16;

    @TempDir
    private Path folder;

    /** A tensor or scratch, and the steps at which it is needed. */
    private record Tenant(long bytes, int first, int last) {}

    /** A tensor with its place. */
    private record Placed(Tenant tenant, long offset) {
        long end() {
            return offset + tenant.bytes();
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Optimize.class,
            names = {"SPEED", "RAM"})
    void networksWithLargeInputsAndOutputs(Optimize optimize) throws IOException {
        for (Map.Entry<String, byte[]> network : MadeUpNetworks.ofLargeTensors().entrySet()) {
            Path model = Files.write(folder.resolve(network.getKey() + ".tflite"), network.getValue());
            checkPlan(model, optimize);
        }
    }

    @Test
    @NeedsShared("golden")
    void goldenModels() {
        Stream.of(GoldenModels.INTEGER, GoldenModels.FLOAT)
                .flatMap(List::stream)
                .forEach(model -> checkPlan(GoldenModels.model(model), Optimize.SPEED));
    }

    @ParameterizedTest
    @EnumSource(Optimize.class)
    @NeedsShared("golden")
    @EnabledIfSystemProperty(named = "kiln.golden", matches = "all")
    void allGoldenModels(Optimize optimize) {
        Stream.of(GoldenModels.INTEGER, GoldenModels.FLOAT, GoldenModels.SINGLE_OPERATORS)
                .flatMap(List::stream)
                .forEach(model -> checkPlan(GoldenModels.model(model), optimize));
    }

    private static void checkPlan(Path model, Optimize optimize) {
        PlannedModule planned = planned(model, optimize, Io.WORKSPACE);
        long bytes = planned.layout().plan().bytes();
        assertThat(bytes).as("%s %s", model, optimize).isLessThanOrEqualTo(greedy(planned));
        PlannedModule lent = planned(model, optimize, Io.CALLER);
        long buffers = lent.program().values().stream()
                .filter(value -> value.place() == Place.INPUT || value.place() == Place.OUTPUT)
                .mapToLong(GreedyPlanTest::aligned)
                .sum();
        assertThat(bytes)
                .as("%s %s beside buffers of the caller", model, optimize)
                .isLessThanOrEqualTo(lent.layout().plan().bytes() + buffers);
    }

    private static PlannedModule planned(Path model, Optimize optimize, Io io) {
        return ModelCompiler.compile(RequestDraft.of(model, TestTargets.M4)
                        .optimize(optimize)
                        .io(io)
                        .build())
                .module();
    }

    /** Bytes of an arena in which each tensor lies whole at the lowest place that is free for as long as it is needed. */
    private static long greedy(PlannedModule module) {
        List<LoweredOperator> operators = module.program().operators();
        List<Tenant> tenants = new ArrayList<>();
        for (StoredValue value : module.program().values()) {
            if (value.place() != Place.STATE) {
                int last = value.place() == Place.OUTPUT ? Integer.MAX_VALUE : value.lastStep();
                tenants.add(new Tenant(aligned(value), value.firstStep(), Math.max(value.firstStep(), last)));
            }
        }
        for (int i = 0; i < operators.size(); i++) {
            tenants.add(new Tenant(aligned(operators.get(i).scratchBytes()), i, i));
        }
        tenants.sort(Comparator.comparingLong(tenant -> -tenant.bytes()));
        List<Placed> arena = new ArrayList<>();
        for (Tenant tenant : tenants) {
            long offset = 0;
            for (Placed other : arena) {
                boolean isTogether = other.tenant.first <= tenant.last && tenant.first <= other.tenant.last;
                if (isTogether && offset < other.end() && other.offset < offset + tenant.bytes) {
                    offset = other.end();
                }
            }
            arena.add(new Placed(tenant, offset));
            arena.sort(Comparator.comparingLong(Placed::offset));
        }
        return arena.stream().mapToLong(Placed::end).max().orElse(0);
    }

    private static long aligned(StoredValue value) {
        return aligned(value.type().bytes());
    }

    private static long aligned(long bytes) {
        return (bytes + ALIGNMENT - 1) & -ALIGNMENT;
    }
}
