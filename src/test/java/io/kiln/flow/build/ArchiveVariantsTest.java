// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.mlf.TvmArchive;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.SharedFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Archives that TVM writes with other options and names than those of the fixtures: their files, changed as TVM would print them. */
final class ArchiveVariantsTest extends ArchiveProject {
    private static final String ENTRY = "codegen/host/src/default_lib0.c";

    /** {@code --executor-aot-interface-api=packed --executor-aot-unpacked-api=1}. */
    @Test
    @NeedsShared("tvm")
    void aPackedEntryCallsOperatorsThatAreNotPacked() throws IOException {
        TvmArchive typed = fixture("kws_ref_model__aot_c_usmp");
        String entry = typed.text(ENTRY);
        TvmArchive archive = fixture("kws_ref_model__aot_packed")
                .with("codegen/host/src/default_lib2.c", typed.text("codegen/host/src/default_lib1.c"))
                .with(ENTRY, entry.substring(0, entry.indexOf("#include <tvmgen_default.h>")) + """
                    TVM_DLL int32_t tvmgen_default___tvm_main__(void* input_1,void* output0,uint8_t* global_const_workspace_0_var,uint8_t* global_workspace_1_var);
                    int32_t tvmgen_default_run(void* args, void* type_code, int num_args, void* out_value, void* out_type_code, void* resource_handle) {
                    return tvmgen_default___tvm_main__(((DLTensor*)(((TVMValue*)args)[0].v_handle))[0].data,((DLTensor*)(((TVMValue*)args)[1].v_handle))[0].data,((uint8_t*)&global_const_workspace),((uint8_t*)&global_workspace));
                    }
                    #ifdef __cplusplus
                    }
                    #endif
                    ;\
                    """);
        answers(archive, vectors("kws_ref_model"));
        assertThat(json("kiln/report.json").at("/calls/unpackedApi").asBoolean())
                .isTrue();
    }

    @Test
    @NeedsShared("tvm")
    void aNameMayHaveCapitals() throws IOException {
        answers(fixture("hello_world_int8__aot_packed").named("MyModel_2"), vectors("hello_world_int8"));
    }

    /** Each has a system library of its own, of which an image can have one. */
    @Test
    @NeedsShared("tvm")
    void twoGraphsOfOneArchiveShareOneSystemLibrary() throws IOException {
        Path vectors = folder.resolve("vectors");
        copy(vectors("hello_world_int8"), vectors.resolve("sine"));
        copy(vectors("kws_ref_model"), vectors.resolve("kws"));
        answers(
                fixture("hello_world_int8__graph")
                        .named("sine")
                        .and(fixture("kws_ref_model__graph").named("kws")),
                vectors);
    }

    /** As with {@code --target=ethos-u,c}: the driver and its context are the project's. */
    @Test
    @NeedsShared("tvm")
    void aDriverOfTheProjectIsCalled() throws IOException {
        String header = "codegen/host/include/tvmgen_default.h";
        String main = "TVM_DLL int32_t tvmgen_default___tvm_main__(int8_t* serving_default_dense_input_0_buffer_var,"
                + " int8_t* StatefulPartitionedCall_0_buffer_var";
        String library = "codegen/host/src/default_lib1.c";
        TvmArchive archive = fixture("hello_world_int8__aot_c_nousmp")
                .replacing(header, "/*!\n * \\brief entrypoint", """
                    /*!
                     * \\brief Device context pointers for TVM module "default"
                     */
                    struct tvmgen_default_devices {
                      void* ethos_u;
                    };

                    /*!
                     * \\brief entrypoint\
                    """)
                .replacing(
                        header,
                        "struct tvmgen_default_outputs* outputs\n",
                        "struct tvmgen_default_outputs* outputs,\n  struct tvmgen_default_devices* devices\n")
                .replacing(ENTRY, "output0)", "output0,void* ethos_u)")
                .replacing(ENTRY, "outputs)", "outputs,struct tvmgen_default_devices* devices)")
                .replacing(ENTRY, "StatefulPartitionedCall_0)", "StatefulPartitionedCall_0,devices->ethos_u)")
                .replacing(library, main + ");", main + ", void* device_context_ethos_u);")
                .replacing(
                        library,
                        main + ") {",
                        main + ", void* device_context_ethos_u) {"
                                + "\n  if (TVMDeviceEthosUActivate(device_context_ethos_u) != 0 ) return -1;");
        write("src/main/c/npu.c", """
            #include <stdint.h>
            static int32_t registers[2] = {77, 0};
            void* const kiln_device_ethos_u = registers;
            int32_t TVMDeviceEthosUActivate(void* context);
            int32_t TVMDeviceEthosUActivate(void* context) {
              return ((const int32_t*)context)[0] == 77 ? 0 : -1;
            }
            """);
        answers(archive, vectors("hello_world_int8"));
    }

    private void answers(TvmArchive archive, Path vectors) throws IOException {
        Path file = archive.save(folder.resolve("net.tar"));
        flow.build(
                withVerify(
                        spec("host", "host", List.of(new ModelSource(file, "default"))),
                        new VerifySpec(VerifyOn.EMULATOR, Optional.of(vectors), 2, 0)),
                DeviceSpec.USUAL);
        assertThat(json("kiln/verify.json").path("bitExact").asBoolean()).isTrue();
    }

    private static void copy(Path from, Path to) throws IOException {
        Files.createDirectories(to);
        try (Stream<Path> files = Files.list(from)) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(file.getFileName()));
            }
        }
    }

    private static TvmArchive fixture(String name) {
        return TvmArchive.read(SharedFolder.need("tvm").resolve(name + ".tar"));
    }

    private static Path vectors(String model) {
        return SharedFolder.need("tvm").resolve("vectors").resolve(model);
    }
}
