// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.Convention;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.KilnException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is read of archives without a header, whose models have packed functions. */
final class PackedArchiveTest {
    private static final String METADATA = "metadata.json";

    @TempDir
    private Path folder;

    @Test
    void packedFunctionsTellTheirTensorsInC() {
        ModelMetadata model = read(packed()).get(0).metadata();

        assertThat(model.api().convention()).isEqualTo(Convention.PACKED);
        assertThat(model.api().functions())
                .containsExactly("tvmgen_default_run", "tvmgen_default___tvm_main__", "tvmgen_default_get_c_metadata");
        assertThat(model.inputs())
                .containsExactly(
                        new TensorInfo("x:0", "x_0", DType.INT8, List.of(2, 3), 0, 0),
                        new TensorInfo("mask", "mask", DType.BOOL, List.of(4), 0, 0));
        assertThat(model.outputs())
                .containsExactly(
                        new TensorInfo("output0", "output0", DType.FLOAT32, List.of(), 0, 0),
                        new TensorInfo("output1", "output1", DType.UINT8, List.of(1, 5), 0, 0));
        assertThat(read(packed().replacing(METADATA, "\"inputs\"", "\"in\"")
                                .replacing(METADATA, "\"outputs\"", "\"out\""))
                        .get(0)
                        .metadata()
                        .inputs())
                .extracting(TensorInfo::name)
                .containsExactly("x_0", "mask");
        refused(packed().replacing(METADATA, "\"size\": 6", "\"size\": 7"))
                .hasMessageContaining("main[0].inputs` is ")
                .hasMessageContaining("kTvmgenMetadata_inputs in the C has: [4 bytes of bool, 6 bytes of int8]");
        refused(packed().replacing("codegen/host/src/default_lib0.c", "TVMValue*", "struct inputs*"))
                .hasMessageContaining("there is no header: the model has the packed interface");
        refused(packed().replacing(METADATA, "external_dependencies", "dependencies")
                        .without("runtime/"))
                .hasMessageContaining("the packed interface of the C++ runtime");
    }

    /** As TVM prints them (src/target/metadata_utils.cc), of a model with two inputs and two outputs. */
    private static TvmArchive packed() {
        return TvmArchive.of("v6")
                .without("codegen/")
                .replacing(METADATA, "\"io_size_bytes\": 28,", """
                    "io_size_bytes": 19,
                    "inputs": {"mask": {"dtype": "bool", "size": 4}, "x:0": {"dtype": "int8", "size": 6}},
                    "outputs": {"output0": {"dtype": "float32", "size": 4}, "output1": {"dtype": "uint8", "size": 5}},
                    """)
                .with("codegen/host/src/default_lib0.c", """
                    int32_t tvmgen_default_run(TVMValue* args, int* type_code, int num_args, TVMValue* v, int* c, void* h) {
                      return tvmgen_default___tvm_main__(args, type_code, num_args, v, c, h);
                    }
                    """)
                .with("codegen/host/src/default_lib1.c", """
                    static const int64_t kTvmgenMetadata_inputs_0_shape[2] = {
                    2L,\s
                    3L};
                    static const int64_t kTvmgenMetadata_inputs_1_shape[1] = {
                    4L};
                    static const struct TVMTensorInfo kTvmgenMetadata_inputs[2] = {
                    {
                    "x_0" /* name*/,\s
                    kTvmgenMetadata_inputs_0_shape,\s
                    2L /* num_shape*/,\s
                    {0, 8, 1} /* dtype*/}
                    ,\s
                    {
                    "mask" /* name*/,\s
                    kTvmgenMetadata_inputs_1_shape,\s
                    1L /* num_shape*/,\s
                    {1, 1, 1} /* dtype*/}
                    };
                    static const int64_t kTvmgenMetadata_outputs_1_shape[2] = {
                    1L,\s
                    5L};
                    static const struct TVMTensorInfo kTvmgenMetadata_outputs[2] = {
                    {
                    "output0" /* name*/,\s
                    NULL,\s
                    0L /* num_shape*/,\s
                    {2, 32, 1} /* dtype*/}
                    ,\s
                    {
                    "output1" /* name*/,\s
                    kTvmgenMetadata_outputs_1_shape,\s
                    2L /* num_shape*/,\s
                    {1, 8, 1} /* dtype*/}
                    };
                    TVM_DLL int32_t tvmgen_default_get_c_metadata(TVMValue* a, int* b, int c, TVMValue* d, int* e, void* f) {
                    """)
                .with("codegen/host/src/default_lib2.c", """
                    TVM_DLL int32_t tvmgen_default___tvm_main__(void* args, int32_t* ids, int32_t n, void* v, int32_t* c, void* h) {
                    """);
    }

    @Test
    void damagedObjectsDefineNothing() {
        byte[] magic = {0x7F, 'E', 'L', 'F', 2, 1, 1};
        for (int length : new int[] {0, 4, 7, 20, 64, 100}) {
            byte[] object = Arrays.copyOf(magic, Math.max(length, 7));
            Arrays.fill(object, 7, object.length, (byte) 0xFF);
            assertThat(PackedCode.defined(Bytes.wrap(object), List.of("f"))).isEmpty();
            object[4] = 1;
            assertThat(PackedCode.defined(Bytes.wrap(object), List.of("f"))).isEmpty();
        }
        assertThat(PackedCode.defined(Bytes.ofText("no"), List.of("f"))).isEmpty();
    }

    private List<ModelLibrary> read(TvmArchive archive) {
        return ModelLibraryFormat.read(archive.save(folder.resolve("net.tar")));
    }

    private AbstractThrowableAssert<?, ? extends Throwable> refused(TvmArchive archive) {
        return assertThatThrownBy(() -> read(archive)).isInstanceOf(KilnException.class);
    }
}
