// SPDX-License-Identifier: Apache-2.0
package io.kiln.module.inspect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.NamedTensor;
import io.kiln.artifact.ParameterFile;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.KilnException;
import io.kiln.module.ModuleWriter;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class ArtifactInspectorsTest {
    private static final List<Artifact> ARTIFACTS = List.of(
            artifact("native", "a.c", Bytes.ofText("""
                    int first(void);
                    static int first(void) { return 1; }
                    int32_t second(const int8_t* x,
                                   int n)
                    {
                      if (n) { return first(); }
                    }
                    """)),
            artifact("graph", "g.graph", Bytes.ofText("{\"nodes\":[{\"op\":\"null\",\"name\":\"x\"}]}")),
            artifact(
                    "params",
                    "p.params",
                    ParameterFile.write(
                            List.of(new NamedTensor("w", DType.INT8, List.of(2, 3), Bytes.wrap(new byte[6]))))),
            artifact(
                    "cuda",
                    "k.functions",
                    new ModuleWriter()
                            .u64(1)
                            .string("add")
                            .string("add")
                            .u64(1)
                            .u32(0x014003)
                            .strings(List.of("blockIdx.x"))
                            .bytes()),
            artifact("cuda", "k.data", Bytes.ofText("code")));

    /** Counts the artifacts that it is given together. */
    private record Counting(Scope scope) implements ArtifactInspector {
        @Override
        public String name() {
            return "count";
        }

        @Override
        public boolean accepts(Artifact artifact) {
            return true;
        }

        @Override
        public List<String> inspect(List<Artifact> artifacts) {
            return List.of(String.valueOf(artifacts.size()));
        }
    }

    @Test
    void eachArtifactHasItsInspectors() {
        ArtifactInspectors inspectors = ArtifactInspectors.installed();
        assertThat(inspectors.lines(ARTIFACTS, "list-functions"))
                .containsExactly("host/native/a.c", "  first", "  second");
        assertThat(inspectors.lines(ARTIFACTS, "list-nodes")).containsExactly("host/graph/g.graph", "  0 null x");
        assertThat(inspectors.lines(ARTIFACTS, "list-params"))
                .containsExactly("host/params/p.params", "  w: int8 [2, 3]");
        assertThat(inspectors.lines(ARTIFACTS, "print-signatures"))
                .containsExactly("host/cuda/k.functions", "  add(handle) <<blockIdx.x>>");
        assertThat(inspectors.lines(ARTIFACTS, "json-prettyprint")).contains("      \"op\" : \"null\",");
        assertThat(inspectors.lines(ARTIFACTS, "?"))
                .containsExactly(
                        "json-prettyprint (artifact)",
                        "list-functions (artifact)",
                        "list-nodes (artifact)",
                        "list-params (artifact)",
                        "print (artifact)",
                        "print-signatures (artifact)");
    }

    @Test
    void metadataAreShownByTheirPaths() {
        Artifact file = artifact(
                "metadata",
                "metadata.json",
                Bytes.ofText("{\"version\":7,\"modules\":{\"net\":{\"target\":[\"c\",\"npu\"]}}}"));
        assertThat(ArtifactInspectors.installed().lines(List.of(file), "metadata"))
                .containsExactly(
                        "host/metadata/metadata.json",
                        "  version = 7",
                        "  modules.net.target[0] = c",
                        "  modules.net.target[1] = npu");
    }

    @Test
    void wrongNamesAndNothingToSayAreErrors() {
        ArtifactInspectors inspectors = ArtifactInspectors.installed();
        assertThatThrownBy(() -> inspectors.lines(ARTIFACTS, "list-function"))
                .hasMessageContaining("there is no inspector `list-function`")
                .hasMessageContaining("list-functions");
        assertThatThrownBy(() -> inspectors.lines(ARTIFACTS.subList(1, 2), "list-params"))
                .hasMessageContaining("the inspector `list-params` says nothing of these artifacts");
        assertThatThrownBy(() ->
                        inspectors.lines(List.of(artifact("native", "a.o", Bytes.ofText("no object"))), "sections"))
                .hasMessageContaining("a.o, offset 0x0");
    }

    @Test
    void anInspectorThatFindsNothingSaysSo() {
        assertThat(ArtifactInspectors.installed()
                        .lines(List.of(artifact("native", "a.c", Bytes.ofText("/* empty */\n"))), "list-functions"))
                .containsExactly("host/native/a.c", "  nothing");
    }

    @Test
    void artifactsOfOneGeneratorOrLoaderAreLookedAtTogether() {
        assertThat(ArtifactInspectors.of(List.of(new Counting(ArtifactInspector.Scope.CODEGEN)))
                        .lines(ARTIFACTS, "count"))
                .containsExactly("code generator gen", "  5");
        assertThat(ArtifactInspectors.of(List.of(new Counting(ArtifactInspector.Scope.LOADER)))
                        .lines(ARTIFACTS, "count"))
                .contains("loader cuda", "  2")
                .hasSize(8);
    }

    @Test
    void anInspectorThatThrowsIsNamed() {
        ArtifactInspector broken = new ArtifactInspector() {
            @Override
            public String name() {
                return "count";
            }

            @Override
            public Scope scope() {
                return Scope.ARTIFACT;
            }

            @Override
            public boolean accepts(Artifact artifact) {
                return true;
            }

            @Override
            public List<String> inspect(List<Artifact> artifacts) {
                throw new NoClassDefFoundError("com/acme/Counter");
            }
        };
        assertThatThrownBy(() -> ArtifactInspectors.of(List.of(broken)).lines(ARTIFACTS, "count"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("inspector " + broken.getClass().getName() + ": it could not inspect a.c: ")
                .hasMessageContaining("com/acme/Counter");
    }

    private static Artifact artifact(String loader, String file, Bytes content) {
        return new Artifact("gen", loader, file, content, Artifact.HOST);
    }

    /** Paths and indentation would make gigabytes of these, also where there are no values. */
    @Test
    void hostileMetadataIsNotSpreadOut() {
        String name = "n".repeat(40_000);
        String wide = "{\"" + name + "\":[" + "0,".repeat(20_000) + "0]}";
        assertThatThrownBy(() -> ArtifactInspectors.installed()
                        .lines(List.of(artifact("metadata", "m.json", Bytes.ofText(wide))), "metadata"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("its values with their paths have more than 16777216 letters");
        for (String empty : List.of("[]", "{}", "{\"a\":[],\"b\":{}}")) {
            String hollow = "{\"" + name + "\":{\"" + name + "\":[" + (empty + ",").repeat(400_000) + "0]}}";
            assertTimeoutPreemptively(
                    Duration.ofSeconds(5),
                    () -> assertThatThrownBy(() -> ArtifactInspectors.installed()
                                    .lines(List.of(artifact("metadata", "m.json", Bytes.ofText(hollow))), "metadata"))
                            .isInstanceOf(KilnException.class)
                            .hasMessageContaining("its values with their paths"));
        }
        String deep = "[".repeat(65) + "0" + "]".repeat(65);
        for (String inspector : List.of("metadata", "json-prettyprint")) {
            assertThatThrownBy(() -> ArtifactInspectors.installed()
                            .lines(List.of(artifact("metadata", "m.json", Bytes.ofText(deep))), inspector))
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining("this is not JSON")
                    .hasMessageContaining("nesting depth");
        }
    }
}
