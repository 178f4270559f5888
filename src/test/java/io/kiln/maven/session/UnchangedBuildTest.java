// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KeptLog;
import io.kiln.base.Log;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.resolve.Resolver;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.maven.ToldGoal;
import io.kiln.toolchain.compiler.TestToolchains;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A goal that has nothing to do is left out, and runs again for everything that it reads. */
final class UnchangedBuildTest {
    private final KeptLog log = new KeptLog();
    private final List<String> said = log.said();

    @TempDir
    Path folder;

    private BuildSpec spec;
    private Path settings;
    private Path baseline;
    private ToldGoal told;
    private ToolchainEnvironment environment;

    @BeforeEach
    void aBuildThatIsDone() throws IOException, InterruptedException {
        spec = new GestureProject(folder)
                .spec("host")
                .verify(GestureProject.UNVERIFIED)
                .build();
        settings = Files.writeString(folder.resolve("settings.xml"), "<settings/>");
        baseline = Files.createDirectories(folder.resolve("baseline/kiln"));
        Files.writeString(baseline.resolve("report.json"), "{}");
        environment = TestToolchains.environment(Log.QUIET);
        told = told();
        Thread.sleep(50);
        assertThat(runs(flow -> flow.generate(spec))).isTrue();
        assertThat(runs(flow -> flow.generate(spec))).isFalse();
    }

    private ToldGoal told() {
        ToldGoal goal = new ToldGoal();
        goal.request().setUserSettingsFile(settings.toFile());
        return goal;
    }

    @Test
    void whoeverIsLeftOutSaysSoOnce() {
        said.clear();
        assertThat(runs(flow -> {})).isFalse();
        assertThat(runs(flow -> {})).isFalse();
        assertThat(said).isEmpty();
        told = told();
        assertThat(runs(flow -> {})).isFalse();
        assertThat(runs(flow -> {})).isFalse();
        assertThat(said).containsExactly("Up to date: nothing has changed since the last build");
    }

    @Test
    void settingsAndTheBaselineOfBudgetsAreInputs() throws IOException, InterruptedException {
        Files.writeString(settings, "<settings></settings>");
        assertRunsOnce();
        Files.writeString(baseline.resolve("report.json"), "{ }");
        assertRunsOnce();
        // It comes before the other.
        Files.writeString(baseline.resolveSibling("report.json"), "{}");
        assertRunsOnce();
    }

    @Test
    void toolchainsAndTheirHomeAreCircumstances() throws IOException, InterruptedException {
        Path home = Files.createDirectories(folder.resolve("gnu"));
        environment =
                new ToolchainEnvironment(environment.home(), List.of(home), environment.fetcher(), environment.log());
        assertRunsOnce();
        String compiler = new Resolver(environment).resolve(spec).toolchain().compiler();
        Path bin = Files.createDirectories(home.resolve("bin"));
        Files.writeString(bin.resolve(compiler), "a compiler that is found first, once it can be executed");
        assertThat(runs(flow -> {})).isTrue();
    }

    @Test
    void aGoalThatFailsLeavesNothingUpToDate() {
        told.user().setProperty("kiln.optimize", "size");
        assertThatThrownBy(() -> runs(flow -> {
                    flow.generate(spec);
                    throw new IllegalStateException("at its end");
                }))
                .hasMessage("at its end");
        assertThat(runs(flow -> {})).isTrue();
        told = told();
        assertThat(runs(flow -> {})).isTrue();
    }

    @Test
    void aGoalCalledByHandLeavesNothingUpToDate() {
        new Flow(Log.QUIET, environment).generate(spec);
        assertThat(runs(flow -> {})).isTrue();
    }

    @Test
    void artifactsOfOthersMayBeReplaced() {
        assertThat(UnchangedBuild.canBe(told.project(), Stream.of(null, "model.tflite", "C:\\models\\a.tflite")))
                .isTrue();
        assertThat(UnchangedBuild.canBe(told.project(), Stream.of("com.example:model:1")))
                .isFalse();
    }

    private void assertRunsOnce() throws InterruptedException {
        Thread.sleep(50);
        assertThat(runs(flow -> flow.generate(spec))).isTrue();
        assertThat(runs(flow -> flow.generate(spec))).isFalse();
    }

    private boolean runs(Consumer<Flow> work) {
        List<Flow> ran = new ArrayList<>();
        new UnchangedBuild(told.session(), told.project(), told.execution(), log, environment)
                .run(spec.layout(), "generate", Optional.of(baseline.getParent().toString()), watch -> {
                    Flow flow = new Flow(Log.QUIET, environment, watch);
                    ran.add(flow);
                    work.accept(flow);
                });
        return !ran.isEmpty();
    }
}
