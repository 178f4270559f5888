// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.ir.Function;
import io.kiln.ir.text.RelayPrinter;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What TVM 0.18 prints otherwise than 0.16: numbers in the metadata section, slices by their axes, concatenation with scales. */
class BoxedTextTest extends ForeignTexts {
    private static final String NUMBERS = """

        #[metadata]
        {
          "root": 1,
          "nodes": [
            {"type_key": ""},
            {"type_key": "Map", "keys": ["Map", "runtime.BoxBool", "runtime.BoxInt"], "data": [7, 2, 3]},
            {"type_key": "Array", "data": [6]},
            {"type_key": "Array", "data": [4, 5]},
            {"type_key": "runtime.BoxInt", "repr_str": "2"},
            {"type_key": "runtime.BoxInt", "repr_str": "3"},
            {"type_key": "runtime.BoxBool", "repr_str": "true"},
            {"type_key": "Array", "data": [8]},
            {"type_key": "Map", "keys": ["axis", "keepdims", "ty_dtype", "ty_shape"], "data": [9, 10, 11, 12]},
            {"type_key": "Array", "data": [10]},
            {"type_key": "IntImm", "attrs": {"dtype": "int32", "span": "0", "value": "1"}},
            {"type_key": "runtime.String", "repr_str": "int8"},
            {"type_key": "Array"}
          ],
          "attrs": {"tvm_version": "0.18.0"}
        }
        """;

    private static final byte[] INPUT = {1, 2, 3, 4};

    private Function reads(String calls) {
        return read("def @main(%x: Tensor[(1, 4), int8]) {\n" + calls + "\n}\n" + NUMBERS);
    }

    @Test
    void boxedNumbersAreRead() {
        Function halves =
                reads("  %0 = split(%x, indices_or_sections=meta[runtime.BoxInt][0], axis=1);\n  negative(%0.1)");
        assertThat(run(halves, INPUT)).containsExactly(-3, -4);
        Function parts = reads("  %0 = split(%x, indices_or_sections=[meta[runtime.BoxInt][0],"
                + " meta[runtime.BoxInt][1]], axis=1);\n  negative(%0.1)");
        assertThat(run(parts, INPUT)).containsExactly(-3);
        Function mean = reads("  max(%x, axis=[1], keepdims=meta[runtime.BoxBool][0])");
        assertThat(run(mean, INPUT)).containsExactly(4);
        assertThat(mean.bindings().get(0).type().shape().dims()).containsExactly(1, 1);
    }

    /** The attributes of operators that TVM knows only by name: in the text if there is no metadata, otherwise there. */
    @Test
    void dictionariesAreRead() {
        Function here = reads("  tfl.max(%x, __dict__={\"axis\"=[1], \"keepdims\"=1, \"ty_dtype\"=\"int8\"})");
        Function there = reads("  tfl.max(%x, __dict__=meta[Map][0])");
        assertThat(run(here, INPUT)).containsExactly(4);
        assertThat(here.bindings().get(0).type().shape().dims()).containsExactly(1, 1);
        assertThat(there.bindings().get(0).op())
                .isEqualTo(here.bindings().get(0).op());
        assertThatThrownBy(() -> reads("  tfl.max(%x, __dict__=meta[Map][1])"))
                .hasMessageContaining("there is no Map 1 in the metadata section");
    }

    /** Arrays of arrays of one and the same array. */
    @Test
    void aSectionThatUnfoldsToTooMuchIsRefused() {
        StringBuilder nodes = new StringBuilder();
        for (int i = 0; i < 12; i++) {
            nodes.append("{\"type_key\": \"Array\", \"data\": [")
                    .append((4 + i + ", ").repeat(8))
                    .append(4 + i)
                    .append("]}, ");
        }
        String section = "\n#[metadata]\n{\"root\": 0, \"nodes\": ["
                + "{\"type_key\": \"Map\", \"keys\": [\"Map\"], \"data\": [1]}, {\"type_key\": \"Array\", \"data\": [2]}, "
                + "{\"type_key\": \"Map\", \"keys\": [\"a\"], \"data\": [3]}, " + nodes
                + "{\"type_key\": \"Array\"}]}";
        assertThatThrownBy(() -> read("def @main(%x: Tensor[(1, 4), int8]) {\n  abs(%x)\n}\n" + section))
                .hasMessageContaining("its attributes are nested too deep, or too many");
    }

    @Test
    void aNumberThatIsNotThereIsNamed() {
        assertThatThrownBy(() -> reads("  split(%x, indices_or_sections=meta[runtime.BoxInt][2], axis=1).0"))
                .hasMessageContaining("m.relay:2:33: there is no runtime.BoxInt 2 in the metadata section");
        assertThatThrownBy(() -> reads("  max(%x, axis=[meta[runtime.BoxFloat][0]])"))
                .hasMessageContaining("the data of the runtime.BoxFloats is missing");
        assertThatThrownBy(() -> reads("  split(%x, indices_or_sections=meta[runtime.BoxInts][0], axis=1).0"))
                .hasMessageContaining("the attribute indices_or_sections of split is wrong");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "begin=[0, 1], end=[1, 3], strides=[1], axes=None | 2 3",
                "begin=[0, 1], end=[1, 4], strides=[1, 2], slice_mode=\"end\" | 2 4",
                "begin=[-3], end=[-1], strides=[1], axes=[1] | 2 3",
                "begin=[-1], end=[-5], strides=[-1], axes=[-1] | 4 3 2 1",
                "begin=[0, 1], end=[1, 2], strides=None, slice_mode=\"size\", axes=None | 2 3",
                "begin=[0, 1], end=[-1, -1], slice_mode=\"size\" | 2 3 4",
                "begin=[0], end=[1], strides=[1], axes=None | 1 2 3 4"
            })
    void slicesAreThoseOfTvm(String attributes, String expected) {
        Function slice = reads("  strided_slice(%x, " + attributes + ")");
        assertThat(Arrays.toString(run(slice, INPUT))).isEqualTo("[" + expected.replace(" ", ", ") + "]");
        assertThat(RelayPrinter.astext(slice)).contains(", axes=None)");
        assertThat(read(RelayPrinter.astext(slice))).isEqualTo(slice);
    }

    /** A limit that TensorFlow Lite's frontend has for activations without one, with the six digits that TVM prints. */
    @Test
    void theLargestFloatIsReadFromSixDigits() {
        Function clip = read("""
            def @main(%x: Tensor[(2), float32]) {
              clip(%x, a_min=-3.40282e+38f, a_max=3.40282e+38f)
            }
            """);
        assertThat(RelayPrinter.astext(clip)).contains("a_min=-3.4028234663852886e+38f, a_max=3.4028234663852886e+38f");
    }

    /** 2 and 3 at 0.5 and zero point 1 are 0.5 and 1.0: 5 and 9 at 0.125 and zero point 1; the other tensor is taken as it is. */
    @Test
    void concatenationRescalesWhatHasAnotherScale() {
        Function both = reads("""
              %0 = strided_slice(%x, begin=[1], end=[3], strides=[1], axes=[1]);
              %1 = (%0, %0);
              %2 = (0.5f, 0.125f);
              %3 = (1, 1);
              qnn.concatenate(%1, %2, %3, 0.125f, 1, axis=1)\
            """);
        assertThat(run(both, INPUT)).containsExactly(5, 9, 2, 3);
        assertThat(operators(both)).containsExactly("strided_slice", "qnn.requantize", "concatenate");
        assertThatThrownBy(() -> reads("  qnn.concatenate((%x, %x), (0.5f, 0.5f), (0, 0), 0.5f, axis=1)"))
                .hasMessageContaining("as many scales and zero points as tensors");
    }

    @Test
    void whatIsNotSupportedComesWithAdvice() {
        assertThatThrownBy(() -> reads("  nn.batch_norm(%x, %x, %x, %x, %x).0"))
                .hasMessageContaining("m.relay:2:3: operator nn.batch_norm is not supported")
                .hasMessageContaining("Run relay.transform.SimplifyInference() and FoldConstant() in TVM");
        assertThatThrownBy(() -> reads("  nn.relux(%x)")).hasMessageContaining("Did you mean nn.relu");
        assertThatThrownBy(() -> reads("  max(%x, axes=[1])")).hasMessageContaining("Did you mean axis");
    }
}
