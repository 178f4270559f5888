// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Log;
import io.kiln.flow.GestureProject;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.resolve.Resolver;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.flow.spec.TuneSpec.RecordsSpec;
import io.kiln.frontend.CustomOperators;
import io.kiln.process.ProcessRunner.Executables;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a build reads besides the project's {@code src}, whether or not it exists. */
final class BuildInputsTest {
    @TempDir
    Path folder;

    @Test
    void theUsersDescriptorOfACompiler() throws IOException {
        Path mine = folder.resolve("mine.yaml");
        Files.copy(Path.of("toolchains/compilers/host.yaml"), mine);
        assertThat(of(spec().toolchain(Optional.of(mine.toString())))).contains(mine);
    }

    @Test
    void recordsThatDoNotExistYet() {
        Path records = folder.resolve("elsewhere/tuning.log");
        assertThat(of(spec().records(new RecordsSpec(Optional.of(records), List.of(), false))))
                .contains(records);
    }

    @Test
    void referencesOfCustomOperatorsAndTheFoldersOfTheirHeaders() {
        CustomOperators operators = CustomOperators.of(CustomOperators.parse("Mine:mine:mine.h:::../others/mine.c"));
        assertThat(of(spec().customOperators(operators)).stream()
                        .map(Path::normalize)
                        .toList())
                .contains(folder.resolveSibling("others/mine.c"), folder.resolveSibling("others"));
    }

    /** A compiler that appears before the one that was found takes its place. */
    @Test
    void everyPlaceWhereACompilerWouldBeFoundFirst() {
        ResolvedBuild build = new Resolver(TestToolchains.environment(Log.QUIET)).resolve(spec().build());
        String compiler = build.toolchain().compiler();
        List<Path> places = Executables.places(compiler);
        assertThat(places.get(places.size() - 1))
                .isEqualTo(Executables.find(compiler).orElseThrow());
        Path home = folder.resolve("gnu");
        assertThat(BuildInputs.of(build, List.of(home)))
                .containsAll(places)
                .contains(home.resolve("bin").resolve(compiler), home.resolve(compiler));
        assertThat(Executables.places("no-such-compiler")).hasSizeGreaterThan(1).doesNotContainNull();
    }

    private SpecDraft spec() {
        return new GestureProject(folder).spec("host").verify(GestureProject.UNVERIFIED);
    }

    private static Set<Path> of(SpecDraft draft) {
        return BuildInputs.of(new Resolver(TestToolchains.environment(Log.QUIET)).resolve(draft.build()), List.of());
    }
}
