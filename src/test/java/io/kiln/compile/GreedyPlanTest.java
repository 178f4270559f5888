// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Optimize;
import io.kiln.compile.CompileOptions.RamOptions;
import io.kiln.executor.PlannedModule;
import io.kiln.flow.resolve.BoardPools;
import io.kiln.frontend.tflite.MadeUpNetworks;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.NeedsShared;
import io.kiln.stream.Program.StoredValue.Place;
import io.kiln.target.SpareRam;
import io.kiln.target.TestTargets;
import io.kiln.toolchain.board.Boards;
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

    /** Neither flash that waits nor RAM that is there is a reason to take more than an arena for the functions of CMSIS-NN. */
    @ParameterizedTest
    @ValueSource(strings = {"temporal", "electrocardiogram", "unet", "odd_channels"})
    void onBoardsWhoseFlashWaits(String name) throws IOException {
        Path model =
                Files.write(folder.resolve("m.tflite"), MadeUpNetworks.all().get(name));
        SpareRam spare = BoardPools.of(Boards.builtIn().find("nucleo-l4r5zi"), Map.of(), 1)
                .spare();
        PlannedModule planned = module(
                RequestDraft.of(model, TestTargets.M4_CACHED).ram(spare, RamOptions.AUTO),
                Optimize.SPEED,
                Io.WORKSPACE);
        PlannedModule peer = module(
                RequestDraft.of(model, "cmsis-nn -version=7.0.0, " + TestTargets.M4), Optimize.SPEED, Io.WORKSPACE);
        assertThat(planned.layout().plan().bytes()).isLessThanOrEqualTo(GreedyArena.bytes(peer));
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
        return module(RequestDraft.of(model, TestTargets.M4), optimize, io);
    }

    private static PlannedModule module(RequestDraft draft, Optimize optimize, Io io) {
        return ModelCompiler.compile(draft.optimize(optimize).io(io).build()).module();
    }
}
