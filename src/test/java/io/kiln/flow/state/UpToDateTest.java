// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.flow.spec.BuildSpec.Layout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A goal that is up to date has the parameters and the files that it had, all of them. */
final class UpToDateTest {
    private static final String SOURCE = "src/main/c/main.c";
    private static final String IMAGE = "target/app.elf";

    @TempDir
    Path folder;

    private Path elsewhere;

    @BeforeEach
    void aBuildThatIsDone() throws IOException {
        elsewhere = folder.resolve("elsewhere/model.tflite");
        write("elsewhere/model.tflite", "model");
        write(SOURCE, "int main;");
        write("target/kiln/objects/main.o", "object");
        write(IMAGE, "image");
        keep("generate");
        keep("link");
    }

    @Test
    void aGoalHoldsThatLeftNothingToDo() {
        assertThat(holds("generate")).isTrue();
        assertThat(holds("link")).isTrue();
        assertThat(holds("compile")).isFalse();
    }

    @Test
    void everyChangedFileCounts() throws IOException {
        assertChanged(() -> write("elsewhere/model.tflite", "longer model"));
        assertChanged(() -> write(SOURCE, "int niam;"));
        assertChanged(() -> Files.setLastModifiedTime(folder.resolve(SOURCE), FileTime.from(Instant.EPOCH)));
        assertChanged(() -> write("src/main/c/new.c", ""));
        assertChanged(() -> Files.delete(folder.resolve("src/main/c/new.c")));
        assertChanged(() -> write("target/kiln/objects/main.o", "by hand"));
        assertChanged(() -> Files.delete(folder.resolve(IMAGE)));
        assertChanged(() -> write("target/app.map", "new"));
        assertChanged(() -> write("target/app-mlf.tar", "archive"));
        assertChanged(() -> Files.delete(elsewhere));
        assertChanged(() -> write("elsewhere/model.tflite", "model"));
    }

    private void assertChanged(Change change) throws IOException {
        keep("generate");
        assertThat(holds("generate")).isTrue();
        change.make();
        assertThat(holds("generate")).isFalse();
        assertThat(holds("link")).as("all of them are out of date").isFalse();
    }

    /** What changes a file. */
    private interface Change {
        void make() throws IOException;
    }

    @Test
    void filesOfNoConsequenceDoNotCount() throws IOException {
        write("target/kiln/build.lock", "");
        write("target/kiln/build.lock.holder", "kiln:run");
        write("target/classes/Other.class", "");
        write("README.md", "");
        assertThat(holds("link")).isTrue();
    }

    /** A goal that runs may change what the goals behind it read, not what those before it wrote. */
    @Test
    void withOtherParametersTheGoalsBehindRunAsWell() {
        keep("verify");
        UpToDate link = goal("link", "-Dother");
        assertThat(link.holds()).isFalse();
        link.begin();
        link.keep(Set.of(elsewhere));
        assertThat(goal("link", "-Dother").holds()).isTrue();
        assertThat(holds("link")).isFalse();
        assertThat(holds("verify")).isFalse();
        assertThat(holds("generate")).isTrue();
    }

    @Test
    void whatChangesWhileAGoalRunsIsNotKept() throws IOException {
        Instant began = Instant.now();
        write(SOURCE, "int changed;");
        UpToDate compile = new UpToDate(layout(), "compile", "", began);
        compile.begin();
        compile.keep(Set.of(elsewhere));
        assertThat(holds("compile")).isFalse();
        assertThat(holds("generate")).isFalse();
    }

    @Test
    void whatComesOrGoesWhileAGoalRunsIsNotKept() throws IOException, InterruptedException {
        write("src/main/c/other.c", "");
        Thread.sleep(50);
        Instant began = Instant.now();
        UpToDate compile = new UpToDate(layout(), "compile", "", began);
        compile.begin();
        Files.delete(folder.resolve("src/main/c/other.c"));
        compile.keep(Set.of());
        assertThat(holds("compile")).isFalse();
    }

    /** It may fail, or be killed, at any time after it has begun. */
    @Test
    void nothingHoldsUntilAGoalHasEnded() {
        UpToDate link = goal("link", "");
        link.begin();
        assertThat(holds("link")).isFalse();
        assertThat(holds("generate")).isFalse();
        link.keep(Set.of(elsewhere));
        assertThat(holds("link")).isTrue();
        assertThat(holds("generate")).isTrue();
        UpToDate.forget(layout());
        assertThat(holds("link")).isFalse();
        UpToDate.forget(layout());
    }

    @Test
    void theFirstGoalForgetsWhatEarlierBuildsHaveRead() throws IOException {
        UpToDate generate = goal("generate", "");
        generate.begin();
        generate.keep(Set.of(folder.resolve("elsewhere/other.tflite")));
        write("elsewhere/model.tflite", "changed");
        assertThat(holds("generate")).isTrue();
        write("elsewhere/other.tflite", "new");
        assertThat(holds("generate")).isFalse();
    }

    /** A goal waits for the folder, and finds it as others have left it. */
    @Test
    void anotherBuildMayWorkBeforeAGoalBegins() throws IOException {
        UpToDate verify = goal("verify", "");
        assertThat(verify.holds()).isFalse();
        write(IMAGE, "image of another build");
        verify.begin();
        verify.keep(Set.of(elsewhere));
        assertThat(holds("verify")).isTrue();
        assertThat(holds("generate")).isFalse();
        assertThat(holds("link")).isFalse();
    }

    @Test
    void anotherBuildMayKeepItsResultBeforeAGoalBegins() {
        UpToDate verify = goal("verify", "");
        assertThat(verify.holds()).isFalse();
        UpToDate other = goal("link", "-Dother");
        other.begin();
        other.keep(Set.of(elsewhere));
        verify.begin();
        verify.keep(Set.of(elsewhere));
        assertThat(holds("link")).isFalse();
        assertThat(goal("link", "-Dother").holds()).isTrue();
    }

    /** As the folder of headers beside a file that lies in the project's folder. */
    @Test
    void whatKilnMakesIsNoInputOfItself() throws IOException, InterruptedException {
        write("target/classes/other.h", "");
        UpToDate verify = goal("verify", "");
        verify.begin();
        verify.keep(Set.of(folder));
        assertThat(holds("verify")).isTrue();
        Thread.sleep(50);
        UpToDate test = new UpToDate(layout(), "test", "", Instant.now());
        test.begin();
        write(IMAGE, "image");
        write("target/kiln/TEST.xml", "passed");
        write("target/app-mlf.tar", "archive");
        test.keep(Set.of());
        assertThat(holds("test")).as("outputs may be new").isTrue();
        write("target/classes/other.h", "changed");
        assertThat(holds("test")).isFalse();
    }

    @Test
    void parametersAreNotKeptInClear() throws IOException {
        UpToDate link = goal("link", "kiln.define=TOKEN=hunter2");
        link.begin();
        link.keep(Set.of(elsewhere));
        assertThat(Files.readAllLines(folder.resolve("target/kiln/state/up-to-date.txt")))
                .hasSize(5)
                .allMatch(line -> line.equals("kiln up to date 2")
                        || line.equals("input " + elsewhere)
                        || line.matches("(goal (generate|link)|snapshot) [0-9a-f]{64}"));
    }

    @Test
    void aDamagedMemoryIsNone() throws IOException {
        for (String damaged : new String[] {"", "something else\n", "kiln up to date 2\ngoal link\n"}) {
            keep("link");
            write("target/kiln/state/up-to-date.txt", damaged);
            assertThat(holds("link")).as(damaged).isFalse();
        }
    }

    private boolean holds(String goal) {
        return new UpToDate(layout(), goal, "").holds();
    }

    private void keep(String goal) {
        UpToDate memory = goal(goal, "");
        memory.begin();
        memory.keep(Set.of(elsewhere));
    }

    /** Begins long after the files were written. */
    private UpToDate goal(String goal, String parameters) {
        return new UpToDate(layout(), goal, parameters, Instant.now().plusSeconds(60));
    }

    private Layout layout() {
        return new Layout(folder, folder.resolve("target"), "app");
    }

    private void write(String name, String text) throws IOException {
        Path file = folder.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }
}
