// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Optimize;
import io.kiln.executor.PlannedModule;
import io.kiln.frontend.tflite.MadeUpNetworks;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.NeedsShared;
import io.kiln.stream.StoredValue.Place;
import io.kiln.target.TestTargets;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * With inputs and outputs in the workspace, no network takes more of it than an arena that is planned greedily, largest tensor first, over all tensors,
 * inputs, outputs and scratch, as TensorFlow Lite Micro plans its own.
 */
class GreedyPlanTest {
    @TempDir
    private Path folder;

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

    /** Flash that waits is no reason to take more scratch than the same arena has with a pair of windows. */
    @ParameterizedTest
    @ValueSource(strings = {"temporal", "electrocardiogram", "unet", "odd_channels"})
    void scratchForFlashThatWaits(String name) throws IOException {
        Path model =
                Files.write(folder.resolve("m.tflite"), MadeUpNetworks.all().get(name));
        assertThat(planned(model, TestTargets.M4_CACHED, Optimize.SPEED, Io.WORKSPACE)
                        .layout()
                        .plan()
                        .bytes())
                .isLessThanOrEqualTo(GreedyArena.bytes(planned(model, TestTargets.M4, Optimize.RAM, Io.WORKSPACE)));
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
        assertThat(bytes).as("%s %s", model, optimize).isLessThanOrEqualTo(GreedyArena.bytes(planned));
        PlannedModule lent = planned(model, optimize, Io.CALLER);
        long buffers = lent.program().values().stream()
                .filter(value -> value.place() == Place.INPUT || value.place() == Place.OUTPUT)
                .mapToLong(GreedyArena::aligned)
                .sum();
        assertThat(bytes)
                .as("%s %s beside buffers of the caller", model, optimize)
                .isLessThanOrEqualTo(lent.layout().plan().bytes() + buffers);
    }

    private static PlannedModule planned(Path model, Optimize optimize, Io io) {
        return planned(model, TestTargets.M4, optimize, io);
    }

    private static PlannedModule planned(Path model, String target, Optimize optimize, Io io) {
        return ModelCompiler.compile(
                        RequestDraft.of(model, target).optimize(optimize).io(io).build())
                .module();
    }
}
