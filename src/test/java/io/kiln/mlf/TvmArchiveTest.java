// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.DeviceHooks;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.artifact.OperatorInfo;
import io.kiln.base.DType;
import io.kiln.base.KilnException;
import io.kiln.firmware.app.DefaultApplication;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.SharedFolder;
import java.nio.file.Path;
import java.util.List;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is read of archives in TVM's form, and what is said of those that firmware cannot be made of. */
final class TvmArchiveTest {
    private static final String METADATA = "metadata.json";

    @TempDir
    private Path folder;

    @Test
    void version5TellsItsTensorsInRelayText() {
        ModelMetadata model = read(TvmArchive.of("v5")).get(0).metadata();

        assertThat(model.name()).isEqualTo("default");
        assertThat(model.target()).isEqualTo("c -keys=arm_cpu,cpu -link-params=0 -mcpu=cortex-m4 -model=nrf52840");
        assertThat(model.io()).isEqualTo(Io.CALLER);
        assertThat(model.inputs())
                .containsExactly(new TensorInfo("input", "input", DType.INT8, List.of(1, 4, 4, 1), 0, 0));
        assertThat(model.outputs())
                .containsExactly(new TensorInfo("output", "output", DType.INT8, List.of(1, 8), 0, 0));
        assertThat(model.workspaceBytes()).isEqualTo(320);
        assertThat(model.constantBytes()).isEqualTo(160);
        assertThat(model.operators())
                .extracting(OperatorInfo::op, OperatorInfo::workspaceBytes)
                .contains(tuple("fused_reshape_cast_subtract", 0L));
    }

    @ParameterizedTest
    @ValueSource(strings = {"v1", "v2", "v3", "v4"})
    void olderVersionsTellTheSame(String version) {
        ModelLibrary older = read(TvmArchive.of(version)).get(0);
        ModelLibrary newer = read(TvmArchive.of("v5")).get(0);

        assertThat(older.metadata().inputs()).isEqualTo(newer.metadata().inputs());
        assertThat(older.metadata().outputs()).isEqualTo(newer.metadata().outputs());
        assertThat(older.metadata().target()).isEqualTo(newer.metadata().target());
        assertThat(older.metadata().workspaceBytes()).isEqualTo(newer.metadata().workspaceBytes());
        assertThat(older.metadata().operators())
                .isEqualTo(version.equals("v1") ? List.of() : newer.metadata().operators());
        assertThat(older.artifacts().of(ArtifactKind.SOURCE))
                .isEqualTo(newer.artifacts().of(ArtifactKind.SOURCE));
        assertThat(older.artifacts().of(ArtifactKind.RELAY)).hasSize(1);
    }

    @Test
    void olderVersionsAreRefusedForWhatTheyLackOnly() {
        refused(TvmArchive.of("v4").replacing(METADATA, "\"aot\"", "\"vm\""))
                .hasMessageContaining(
                        "metadata.json: `runtimes` is [\"vm\"]; expected \"aot\" or \"graph\" among them");
        refused(TvmArchive.of("v4").replacing(METADATA, "full-model", "operator"))
                .hasMessageContaining("`style` is \"operator\"; expected \"full-model\"");
        refused(TvmArchive.of("v3").replacing(METADATA, "runtimes", "executors"))
                .hasMessageContaining("`runtimes` is missing");
        refused(TvmArchive.of("v2").without("codegen/host/include/"))
                .hasMessageContaining("codegen/host/include/tvmgen_default.h: there is no header");
        refused(TvmArchive.of("v1").replacing(METADATA, "\"size_bytes\": 256", "\"size\": 256"))
                .hasMessageContaining("`memory[2].size_bytes` is missing");
        for (int version : new int[] {0, -1, 8}) {
            refused(TvmArchive.of("v1").replacing(METADATA, "\"version\": 1", "\"version\": " + version))
                    .hasMessageContaining("`version` is " + version + "; expected 1 to 7");
        }
    }

    @Test
    void version6HasTargetsAsAList() {
        ModelMetadata model = read(TvmArchive.of("v6")).get(0).metadata();

        assertThat(model.target()).isEqualTo("c -keys=cpu");
        assertThat(model.inputs()).extracting(TensorInfo::cName).containsExactly("serving_default_x_0");
        assertThat(model.inputs()).extracting(TensorInfo::bytes).containsExactly(16L);
    }

    @Test
    void version7HasTensorsInTheOrderOfTheHeader() {
        List<ModelLibrary> models = read(TvmArchive.of("v7"));
        ModelMetadata alpha = models.get(0).metadata();
        ModelMetadata beta = models.get(1).metadata();

        assertThat(alpha.inputs()).extracting(TensorInfo::name).containsExactly("x:0", "state");
        assertThat(alpha.inputs()).extracting(TensorInfo::shape).containsExactly(List.of(1, 6), List.of(1, 6));
        assertThat(beta.io()).isEqualTo(Io.WORKSPACE);
        assertThat(beta.workspaceBytes()).isEqualTo(42);
        assertThat(beta.outputs()).extracting(TensorInfo::name).containsExactly("output0", "output1");
        assertThat(models.get(1).artifacts().of(ArtifactKind.SOURCE))
                .extracting(Artifact::fileName)
                .containsExactly("beta_lib0.c", "beta_lib1.c");
        assertThat(models.get(1).artifacts().of(ArtifactKind.SOURCE)).allMatch(Artifact::isForeign);
    }

    /** Models that also use another device have an entry for each, in the order of a hash map. */
    @Test
    void theEntryOfTheCoreCounts() {
        String main = "\"main\": [";
        ModelMetadata model = read(TvmArchive.of("v6")
                        .replacing(
                                METADATA,
                                main,
                                main + "{\"device\": 12, \"workspace_size_bytes\": 7, \"io_size_bytes\": 0}, "))
                .get(0)
                .metadata();

        assertThat(model.workspaceBytes())
                .isEqualTo(read(TvmArchive.of("v6")).get(0).metadata().workspaceBytes())
                .isNotEqualTo(7);
    }

    @Test
    @NeedsShared("tvm")
    void aGraphOfSeveralDevicesIsRefused() {
        TvmArchive graph = TvmArchive.read(SharedFolder.need("tvm").resolve("hello_world_int8__graph.tar"));
        refused(graph.replacing(
                        "executor-config/graph/default.graph",
                        "\"device_index\": [\n      \"list_int\", \n      [\n        1",
                        "\"device_index\": [\n      \"list_int\", \n      [\n        2"))
                .hasMessageContaining("device_index has 2: there is no device but the core, 1");
    }

    @Test
    void withoutRelayTextShapesAreFlatAndOldArchivesUnreadable() {
        assertThat(read(TvmArchive.of("v7").without("src/")).get(0).metadata().inputs())
                .extracting(TensorInfo::shape)
                .containsExactly(List.of(6), List.of(6));
        refused(TvmArchive.of("v5").without("src/"))
                .hasMessageContaining("`memory.functions.main[0].inputs.input` is missing")
                .hasMessageContaining("`memory.functions.main[0].outputs.output` is missing")
                .hasMessageContaining("Export the model again with TVM 0.11 or newer");
    }

    @Test
    void otherKindsOfExportAreNamed() {
        refused(TvmArchive.of("v6").replacing(METADATA, "\"aot\"", "\"graph\""))
                .hasMessageContaining("executor-config/graph/default.graph: there is no graph");
        refused(TvmArchive.of("v6").replacing(METADATA, "\"aot\"", "\"vm\""))
                .hasMessageContaining(
                        "metadata.json: `executors` is [\"vm\"]; expected \"aot\" or \"graph\" among them")
                .hasMessageContaining("--executor-aot-interface-api=c");
        refused(TvmArchive.of("v6").without("codegen/host/include/"))
                .hasMessageContaining("codegen/host/include/tvmgen_default.h: there is no header")
                .hasMessageContaining("packed interface; expected the C interface with the unpacked API");
        refused(TvmArchive.of("v5").without("codegen/host/include/").without("runtime/"))
                .hasMessageContaining("the packed interface of the C++ runtime")
                .hasMessageContaining("--runtime=crt");
        refused(TvmArchive.of("v6").replacing(METADATA, "full-model", "operator"))
                .hasMessageContaining("`style` is \"operator\"; expected \"full-model\"");
        refused(TvmArchive.of("v6").without("codegen/host/src/"))
                .hasMessageContaining("codegen/host/src/: there is no C for model `default`");
        refused(TvmArchive.of("v6").with("codegen/host/src/default_lib2.cc", "int x;"))
                .hasMessageContaining("default_lib2.cc: the file is not C");
    }

    /** What {@code tvm.build} exports, such as AutoTVM does for every configuration that it measures. */
    @Test
    void operatorsAreFoundInTheirC() {
        String entry = "(TVMValue* args, int* type_code, int num_args, TVMValue* out_value, int* out_type_code, void*"
                + " resource_handle)";
        TvmArchive operators = TvmArchive.of("v7")
                .without("codegen/")
                .without("src/")
                .with(METADATA, """
                    {"version": 7, "model_name": "default_function", "target": ["c -keys=cpu "], "executors": [], "style": "operator",
                     "memory": {"default_function": [{"size_bytes": 48, "shape": [1, 12], "dtype": "int32", "input_binding": null}]}}\
                    """)
                .with(
                        "codegen/host/src/lib0.c",
                        "TVM_DLL int32_t default_function" + entry + ";\nTVM_DLL int32_t __tvm_main__" + entry + ";\n");
        ModelMetadata model = read(operators).get(0).metadata();

        assertThat(model.api().executor()).isEqualTo(ExecutorKind.NONE);
        assertThat(model.api().functions()).containsExactly("default_function", "__tvm_main__");
        assertThat(model.operators()).extracting(OperatorInfo::name).containsExactly("default_function");
        refused(operators.without("codegen/")).hasMessageContaining("there is no C for model `default_function`");
    }

    @Test
    void whatARunNeedsBesideTensorsIsNamed() {
        String header = "codegen/host/include/tvmgen_default.h";
        refused(TvmArchive.of("v6").replacing(header, "/*!\n * \\brief entry", """
            struct tvmgen_default_workspace_pools {
              void* sram;
              void* dtcm;
            };

            /*!
             * \\brief entry\
            """))
                .hasMessageContaining("tvmgen_default.h: the size of the memory pool sram is not defined")
                .hasMessageContaining("the size of the memory pool dtcm is not defined; expected a macro"
                        + " TVMGEN_DEFAULT_DTCM_WORKSPACE_POOL_SIZE or TVMGEN_DEFAULT_DTCM_CONSTANT_POOL_SIZE");
    }

    @Test
    void driversOfDevicesAreTheCallers() {
        String header = "codegen/host/include/tvmgen_default.h";
        ModelLibrary model = read(TvmArchive.of("v6").replacing(header, "/*!\n * \\brief entry", """
            struct tvmgen_default_devices {
              void* ethos_u;
              void* npu;
            };

            /*!
             * \\brief entry\
            """))
                .get(0);
        assertThat(model.metadata().api().devices())
                .extracting(DeviceHooks::instance)
                .containsExactly("kiln_device_ethos_u", "kiln_device_npu");
        assertThat(DefaultApplication.files(List.of(model.metadata()))
                        .get("kiln_app_models.c")
                        .text())
                .containsOnlyOnce("extern void* const kiln_device_ethos_u;\n")
                .contains("  struct tvmgen_default_devices devices = "
                        + "{.ethos_u = kiln_device_ethos_u, .npu = kiln_device_npu};\n"
                        + "  return tvmgen_default_run(&inputs, &outputs, &devices);\n");
    }

    @Test
    void versionsAreNamed() {
        refused(TvmArchive.of("v7").replacing(METADATA, "\"version\": 7", "\"version\": 8"))
                .hasMessageContaining("`version` is 8; expected 1 to 7. The archive is newer than");
        refused(TvmArchive.of("v5").replacing(METADATA, "\"version\": 5", "\"version\": \"5\""))
                .hasMessageContaining("`version` is \"5\"; expected a number");
        refused(TvmArchive.of("v5").replacing(METADATA, "\"version\"", "\"versions\""))
                .hasMessageContaining("`version` is missing");
        refused(TvmArchive.of("v7").without(METADATA)).hasMessageContaining("net.tar: there is no metadata.json");
    }

    @Test
    void tensorsHaveToFitTogether() {
        refused(TvmArchive.of("v7").replacing(METADATA, "\"int32\"", "\"float16\""))
                .hasMessageContaining("`modules.alpha.memory.functions.main[0].inputs.state.dtype` is \"float16\"")
                .hasMessageContaining("expected int8, uint8");
        refused(TvmArchive.of("v7").replacing(METADATA, "\"size\": 24", "\"size\": 23"))
                .hasMessageContaining("inputs.state.size` is 23; expected a multiple of 4, the size of int32");
        refused(TvmArchive.of("v7").replacing(METADATA, "\"state\"", "\"offset\""))
                .hasMessageContaining("inputs.offset` is {\"dtype\":\"int32\",\"size\":24}; expected a member of struct"
                        + " tvmgen_alpha_inputs in the header, which has [x_0, state]");
        refused(TvmArchive.of("v7")
                        .replacing(
                                "codegen/host/include/tvmgen_beta.h", "struct tvmgen_beta_outputs {", "struct other {"))
                .hasMessageContaining("tvmgen_beta.h: struct tvmgen_beta_outputs is missing or empty");
    }

    private List<ModelLibrary> read(TvmArchive archive) {
        return ModelLibraryFormat.read(archive.save(folder.resolve("net.tar")));
    }

    private AbstractThrowableAssert<?, ? extends Throwable> refused(TvmArchive archive) {
        return assertThatThrownBy(() -> read(archive)).isInstanceOf(KilnException.class);
    }
}
