// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.FolderLock;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Work in a build's folder is told while nobody else works there, and has settled only if all demands are met. */
final class FlowWatchTest {
    private final List<String> told = new ArrayList<>();
    private final Flow flow = new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET), new Flow.Watch() {
        @Override
        public void begins(Layout layout) {
            tell(layout, "begins");
        }

        @Override
        public void settled(Collection<ResolvedBuild> builds) {
            builds.forEach(build -> tell(build.spec().layout(), "settled"));
        }
    });

    @TempDir
    Path folder;

    private BuildSpec spec;

    private void tell(Layout layout, String what) {
        assertThatThrownBy(() -> FolderLock.acquire(layout.reports(), "build", "test", Duration.ZERO, holder -> {})
                        .close())
                .as("the folder is held")
                .isInstanceOf(KilnException.class);
        told.add(what);
    }

    @BeforeEach
    void project() {
        spec = new GestureProject(folder)
                .spec("host")
                .verify(GestureProject.UNVERIFIED)
                .build();
    }

    @Test
    void anImageSettlesOnceItMeetsAllDemands() {
        flow.generate(spec);
        assertThat(told).containsExactly("begins", "settled");
        told.clear();
        assertThatThrownBy(() -> flow.link(spec, build -> {
                    throw new IllegalStateException("over budget");
                }))
                .hasMessage("over budget");
        assertThat(told).containsExactly("begins");
        told.clear();
        flow.link(spec, build -> told.add(build.board().id()));
        assertThat(told).containsExactly("begins", "host", "settled");
    }

    /** Else the record that it writes first would look like the work of another build. */
    @Test
    void aVerificationBeginsBeforeItsRecord() throws IOException {
        Path record = spec.layout().reports().resolve("verify.json");
        Files.createDirectories(record.getParent());
        Files.writeString(record, "{}");
        List<String> before = new ArrayList<>();
        new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET), new Flow.Watch() {
                    @Override
                    public void begins(Layout layout) {
                        try {
                            before.add(Files.readString(record));
                        } catch (IOException e) {
                            throw new AssertionError(e);
                        }
                    }
                })
                .recorded(spec.layout(), "test", verification -> before.add("verifies"));
        assertThat(before).containsExactly("{}", "verifies");
    }

    @Test
    void byHandNothingStaysUpToDate() throws IOException {
        Path memory = spec.layout().reports().resolve("state/up-to-date.txt");
        Files.createDirectories(memory.getParent());
        Files.writeString(memory, "");
        new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET)).generate(spec);
        assertThat(memory).doesNotExist();
    }
}
