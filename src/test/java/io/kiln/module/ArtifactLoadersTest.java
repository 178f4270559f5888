// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactSet;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.module.ModuleTree.ModuleNode;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ArtifactLoadersTest {
    private static final DeviceModule CUDA = new DeviceModule(
            "ptx",
            Map.of("add", new DeviceModule.FunctionInfo("add", List.of(0x014003), List.of("blockIdx.x"))),
            Bytes.ofText(".version 7"));

    /** Notes what it is asked to load. */
    private record Noting(Set<String> names, List<String> calls) implements ArtifactLoader {
        @Override
        public ModulePayload load(String name, List<Artifact> group) {
            calls.add(name + group.stream().map(Artifact::fileName).toList());
            return CUDA;
        }
    }

    @Test
    void threeArtifactsOfCudaAreOneModule() {
        List<ModuleNode> loaded = ArtifactLoaders.installed().load(set(cuda()));
        assertThat(loaded).containsExactly(new ModuleNode("cuda", CUDA, List.of()));
    }

    @Test
    void loadersAreCalledOnceInTheOrderOfTheirNamesWithSortedFiles() {
        List<Artifact> artifacts = new ArrayList<>(cuda());
        artifacts.add(0, artifact("zpu", "b", Bytes.ofText("")));
        artifacts.add(0, artifact("apu", "c", Bytes.ofText("")));
        List<String> calls = new ArrayList<>();
        ArtifactLoaders.of(List.of(new Noting(Set.of("zpu", "apu", "cuda"), calls)))
                .load(set(artifacts));
        assertThat(calls).containsExactly("apu[c]", "cuda[k.data, k.fmt, k.functions]", "zpu[b]");
    }

    @Test
    void whatIsMissingOrIncompleteIsNamed() {
        ArtifactSet set = set(List.of(artifact("fpga", "x.bit", Bytes.ofText("")), cuda().get(0)));
        assertThatThrownBy(() -> ArtifactLoaders.installed().load(set))
                .hasMessageContaining("artifacts of loader \"fpga\" cannot be loaded: no such loader; there are ")
                .hasMessageContaining("cuda")
                .hasMessageContaining("the loader `cuda` was given [k.data]");
    }

    @Test
    void aLoaderThatThrowsIsNamed() {
        ArtifactLoader broken = new ArtifactLoader() {
            @Override
            public Set<String> names() {
                return Set.of("fpga");
            }

            @Override
            public ModulePayload load(String name, List<Artifact> group) {
                throw new IllegalStateException("no bits");
            }
        };
        assertThatThrownBy(() -> ArtifactLoaders.of(List.of(broken))
                        .load(set(List.of(artifact("fpga", "x.bit", Bytes.ofText(""))))))
                .hasMessageContaining("x.bit: the loader `fpga`")
                .hasMessageContaining("no bits");
    }

    @Test
    void servicesThatCannotBeLoadedAreNamed(@TempDir Path folder) throws IOException {
        for (Class<?> type : List.of(ArtifactLoader.class, ModuleLoader.class)) {
            Path services = folder.resolve("META-INF/services/" + type.getName());
            Files.createDirectories(services.getParent());
            Files.writeString(services, "com.acme.Missing\n");
        }
        try (URLClassLoader from =
                new URLClassLoader(new URL[] {folder.toUri().toURL()}, ArtifactLoader.class.getClassLoader())) {
            assertThatThrownBy(() -> ArtifactLoaders.installed(from))
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining("loader of artifacts that is a service of " + ArtifactLoader.class.getName())
                    .hasMessageContaining("com.acme.Missing");
            assertThatThrownBy(() -> ModuleLoaders.installed(from))
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining("loader of modules that is a service of " + ModuleLoader.class.getName())
                    .hasMessageContaining("com.acme.Missing");
        }
    }

    @Test
    void aLoaderThatAnswersNothingIsNamed() {
        ArtifactLoader nothing = new ArtifactLoader() {
            @Override
            public Set<String> names() {
                return Set.of("fpga");
            }

            @Override
            public ModulePayload load(String name, List<Artifact> group) {
                return null;
            }
        };
        assertThatThrownBy(() -> ArtifactLoaders.of(List.of(nothing))
                        .load(set(List.of(artifact("fpga", "x.bit", Bytes.ofText(""))))))
                .hasMessageContaining("x.bit: the loader `fpga`")
                .hasMessageContaining("it answered null");
    }

    private static List<Artifact> cuda() {
        ModuleWriter table = new ModuleWriter();
        CUDA.writeTable(table);
        return List.of(
                artifact("cuda", "k.data", CUDA.data()),
                artifact("cuda", "k.functions", table.bytes()),
                artifact("cuda", "k.fmt", Bytes.ofText("ptx")));
    }

    private static Artifact artifact(String loader, String file, Bytes content) {
        return new Artifact("gen", loader, file, content, Artifact.HOST);
    }

    private static ArtifactSet set(List<Artifact> artifacts) {
        return new ArtifactSet(artifacts);
    }
}
