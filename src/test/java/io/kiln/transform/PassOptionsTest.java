// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.draw.RandomOperators;
import io.kiln.frontend.tflite.TfliteFrontend;
import io.kiln.ir.Function;
import io.kiln.ir.Parameter;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.Interpreter;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.OwnModel;
import io.kiln.transform.Pipeline.Stage;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.FieldSource;

/** What a user may change about the passes, and that answers stay the same. */
public class PassOptionsTest {
    static final List<String> INTEGER = GoldenModels.INTEGER;

    /** Every pass that can be left out. */
    public static Set<String> optional() {
        Set<String> names = new TreeSet<>();
        for (Pass pass : Pipeline.standard().passes()) {
            if (pass.whyRequired().isEmpty()) {
                names.add(pass.name());
            }
        }
        return names;
    }

    @Test
    void everythingWrongIsSaidAtOnceWithTheNearestName() {
        Problems problems = new Problems(Failure.CONFIG);
        new PassOptions(0, Set.of("fold-constant", "zzz", "fuse-operators")).check(problems);
        assertThatThrownBy(problems::throwIfAny)
                .isInstanceOfSatisfying(
                        KilnException.class,
                        e -> assertThat(e.problems())
                                .extracting(p -> p.what() + "|" + p.next())
                                .containsExactly(
                                        "kiln.fuse.maxDepth is 0|",
                                        "kiln.disabledPasses names 'fold-constant', which is not a pass|Did you mean"
                                                + " fold-constants?",
                                        "the pass 'fuse-operators' cannot be skipped: operators are lowered by the"
                                                + " groups that it makes; kiln.fuse.maxDepth=1 fuses nothing|",
                                        "kiln.disabledPasses names 'zzz', which is not a pass|"))
                .hasMessageContaining(
                        "some of fold-constants, simplify-reshapes, fold-padding, eliminate-dead-bindings,"
                                + " remove-constant-channels");
    }

    @Test
    void aStageKeepsThePlaceOfItsPass() {
        Function function = RandomNets.next(1);
        List<Stage> stages =
                Pipeline.of(new PassOptions(256, Set.of("simplify-reshapes"))).stages(function);
        assertThat(stages)
                .extracting(stage -> stage.index() + " " + stage.pass())
                .containsExactly(
                        "0 import",
                        "1 fold-constants",
                        "3 fold-padding",
                        "4 eliminate-dead-bindings",
                        "5 remove-constant-channels",
                        "6 fuse-operators");
    }

    @Test
    void aGroupHoldsNoMoreThanItsLimit() {
        for (int depth = 1; depth <= 4; depth++) {
            int limit = depth;
            Function fused = Pipeline.of(new PassOptions(depth, Set.of())).run(RandomNets.next(3));
            assertThat(fused.groups())
                    .allSatisfy(g -> assertThat(g.bindings().size()).isLessThanOrEqualTo(limit))
                    .anySatisfy(g -> assertThat(g.bindings().size()).isEqualTo(Math.min(limit, 3)));
        }
    }

    @Test
    void randomNetsAnswerTheSameWhateverIsLeftOut() {
        List<String> names = List.copyOf(optional());
        assertThat(names).hasSizeGreaterThan(3);
        for (int mask = 0; mask < 1 << names.size(); mask++) {
            List<String> off = new ArrayList<>();
            for (int i = 0; i < names.size(); i++) {
                if ((mask >> i & 1) == 1) {
                    off.add(names.get(i));
                }
            }
            Pipeline pipeline = Pipeline.of(new PassOptions(1 + mask % 4, Set.copyOf(off)));
            for (long seed = 0; seed < 8; seed++) {
                Function net = RandomNets.next(seed);
                List<Bytes> inputs = new ArrayList<>();
                for (Parameter parameter : net.params()) {
                    inputs.add(RandomOperators.input(parameter.type(), seed));
                }
                assertThat(Interpreter.run(pipeline.run(net), inputs))
                        .as("seed %d without %s", seed, off)
                        .isEqualTo(Interpreter.run(net, inputs));
            }
        }
    }

    @ParameterizedTest
    @FieldSource("INTEGER")
    @NeedsShared("golden")
    void goldenModelsAnswerTheSameWithoutPasses(String model) {
        Function imported = TfliteFrontend.read(GoldenModels.model(model), "default");
        answersTheSameWithoutPasses(imported, GoldenModels.inputs(model, imported, 0), GoldenModels.output(model, 0));
    }

    @ParameterizedTest
    @EnumSource(OwnModel.class)
    void ownModelsAnswerTheSameWithoutPasses(OwnModel model) {
        answersTheSameWithoutPasses(model.read(), model.inputs(0), model.output(0));
    }

    private static void answersTheSameWithoutPasses(Function imported, List<Bytes> inputs, Bytes answer) {
        for (Set<String> off : List.of(optional(), Set.of("remove-constant-channels"), Set.of("fold-constants"))) {
            Function bare = Pipeline.of(new PassOptions(1, off)).run(imported);
            assertThat(bare.groups()).hasSameSizeAs(bare.bindings());
            assertThat(Interpreter.run(bare, inputs).get(0))
                    .as("without %s", off)
                    .isEqualTo(answer);
        }
    }
}
