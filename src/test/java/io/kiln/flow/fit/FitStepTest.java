// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.fit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.artifact.OperatorInfo;
import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.base.Optimize;
import io.kiln.compile.CompileOptions;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.build.GenerateStep;
import io.kiln.flow.resolve.Resolver;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.CompilerSpec.FitSpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.process.TestPrograms;
import io.kiln.report.FrontReport;
import io.kiln.report.Json;
import io.kiln.report.JsonSchemas;
import io.kiln.schedule.GoalMix;
import io.kiln.schedule.LayerGoal;
import io.kiln.toolchain.compiler.TestToolchains;
import io.kiln.tuning.fit.FitSearch.FitLimits;
import java.io.IOException;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** Builds of the example model that must fit, and their front, in the real emulator. */
class FitStepTest {
    @TempDir
    private Path folder;

    private final KeptLog log = new KeptLog();

    @BeforeEach
    void needsAnEmulator() {
        TestPrograms.need("qemu-system-arm");
    }

    private BuildSpec spec(FitLimits limits, boolean isSought) {
        return new GestureProject(folder)
                .spec("mps2-an386")
                .fit(new FitSpec(isSought, limits))
                .build();
    }

    private Flow flow() {
        return new Flow(log, TestToolchains.environment(log));
    }

    private JsonNode report(String file) throws IOException {
        return new GestureProject(folder).json("kiln/" + file);
    }

    private FrontReport front() {
        return Json.read(folder.resolve("out/kiln/front.json"), FrontReport.class);
    }

    /** Without limits the fastest plan is taken, and goals that build and verify follow it. */
    @Test
    void theFastestPlanIsBuiltVerifiedAndNotSearchedAgain() throws IOException {
        BuildSpec spec = spec(FitLimits.NONE, true);
        flow().build(spec, DeviceSpec.USUAL);
        JsonSchemas.assertFits("front", new GestureProject(folder).text("kiln/front.json"));
        FrontReport.Image taken = front().taken();
        assertThat(taken.way().plan()).isEqualTo("size");
        assertThat(front().images())
                .allMatch(image -> image.cycles() >= taken.cycles())
                .hasSizeGreaterThan(1);
        assertThat(report("report.json").at("/flash/total").asLong()).isEqualTo(taken.flash());
        assertThat(report("report.json").at("/ram/total").asLong()).isEqualTo(taken.ram());
        assertThat(report("verify.json").get("bitExact").asBoolean()).isTrue();
        assertThat(new GestureProject(folder).text("kiln/index.html"))
                .contains("id=\"front\"", "class=\"image taken\"");
        flow().profile(spec);
        assertThat(report("profile.json").at("/cycles/expected").asLong()).isEqualTo(taken.cycles());
        assertThat(log.said()).contains("Searching the fastest image that fits: nothing changed");
    }

    /** An image with different goals for layers, plan and code answers bit for bit as the model says. */
    @Test
    void aMixOfGoalsIsBitExact() throws IOException {
        BuildSpec whole = spec(FitLimits.NONE, false);
        Resolver resolver = new Resolver(TestToolchains.environment(log));
        GenerateStep.Libraries libraries = new GenerateStep(log, resolver.resolve(whole)).libraries();
        SortedMap<String, LayerGoal> goals = new TreeMap<>();
        for (OperatorInfo operator : libraries.linked().get(0).metadata().operators()) {
            goals.put(operator.name(), goals.size() % 2 == 0 ? LayerGoal.SIZE : LayerGoal.SHORT);
        }
        CompileOptions options = whole.compiler().options().with(Optimize.RAM, new GoalMix(Optimize.SPEED, goals));
        flow().build(whole.with(whole.compiler().with(options)), DeviceSpec.USUAL);
        assertThat(report("verify.json").get("bitExact").asBoolean()).isTrue();
    }

    /** Every night, with a search: the image of the best mix keeps the limits, and nothing that was measured is faster. */
    @Test
    @EnabledIfSystemProperty(named = "kiln.golden", matches = "all")
    void theFastestMixWithinLimitsIsTaken() throws IOException {
        flow().build(spec(new FitLimits(OptionalLong.of(7250), OptionalLong.empty()), true), DeviceSpec.USUAL);
        JsonSchemas.assertFits("front", new GestureProject(folder).text("kiln/front.json"));
        FrontReport.Image taken = front().taken();
        assertThat(taken.flash()).isLessThanOrEqualTo(7250);
        assertThat(taken.way().layers()).containsValues("speed", "size");
        assertThat(front().images())
                .filteredOn(FrontReport.Image::fits)
                .allMatch(image -> image.cycles() >= taken.cycles());
        assertThat(report("report.json").at("/flash/total").asLong()).isEqualTo(taken.flash());
        assertThat(report("verify.json").get("bitExact").asBoolean()).isTrue();
    }

    /** Every night: limits that nothing keeps end in one message, and nothing is left behind. */
    @Test
    @EnabledIfSystemProperty(named = "kiln.golden", matches = "all")
    void limitsThatNothingKeepsEndInOneMessage() {
        FitLimits limits = new FitLimits(OptionalLong.of(3000), OptionalLong.of(4000));
        assertThatThrownBy(() -> flow().generate(spec(limits, true)))
                .isInstanceOfSatisfying(
                        KilnException.class,
                        e -> assertThat(e.problems()).singleElement().satisfies(problem -> {
                            assertThat(problem.what())
                                    .matches("none of [0-9]+ images fits: the least flash takes [0-9,]+ bytes .*");
                            assertThat(problem.where()).contains("mps2-an386");
                            assertThat(problem.expected())
                                    .isEqualTo("at most 3,000 bytes of flash and at most 4,000 bytes of RAM");
                            assertThat(problem.next()).contains("kiln.limit.flash");
                        }));
        assertThat(folder.resolve("out/kiln/front.json")).doesNotExist();
    }

    /** A limit alone makes nothing smaller: it ends a build that takes more, and nothing is written. */
    @Test
    void aLimitIsKeptWithoutASearchToo() {
        assertThatThrownBy(() -> flow().build(
                                spec(new FitLimits(OptionalLong.of(9000), OptionalLong.empty()), false),
                                DeviceSpec.USUAL))
                .isInstanceOfSatisfying(
                        KilnException.class,
                        e -> assertThat(e.problems()).singleElement().satisfies(problem -> {
                            assertThat(problem.what()).matches("the image takes [0-9,]+ bytes of flash");
                            assertThat(problem.expected()).isEqualTo("at most 9,000: kiln.limit.flash");
                        }));
        assertThat(folder.resolve("out/gesture.elf")).doesNotExist();
    }
}
