// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.NamedTensor;
import io.kiln.artifact.ParameterFile;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.Function;
import io.kiln.ir.Parameter;
import io.kiln.ir.text.RelayPrinter;
import io.kiln.reference.Interpreter;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.SharedFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Text that TVM 0.16 printed: names, tuples, numbers that are not finite, and what it says of devices. */
class TvmTextTest {
    /** TVM computed the answers with all digits of the scales; the text has six of them, which tells in the last case. */
    @Test
    @NeedsShared("tvm")
    void textAndParametersOfTvmGiveTvmsAnswers() throws IOException {
        Path tvm = SharedFolder.need("tvm").resolve("relay");
        Bytes params = Bytes.wrap(Files.readAllBytes(tvm.resolve("kws_ref_model.params")));
        String text = Files.readString(tvm.resolve("kws_ref_model.relay"));
        String exact = text.replace("0.584703f", "0.5847029f")
                .replace("0.082815f", "0.08281501f")
                .replace("0.0600257f", "0.060025696f")
                .replace("0.06276f", "0.062760025f")
                .replace("0.0374018f", "0.037401788f")
                .replace("0.0459011f", "0.045901064f")
                .replace("0.0329708f", "0.032970764f")
                .replace("0.046844f", "0.046844043f")
                .replace("0.0802362f", "0.08023616f")
                .replace("0.00838576f", "0.008385755f")
                .replace("0.000672841f", "0.00067284074f")
                .replace("0.144693f", "0.14469251f");
        Function function =
                RelayFrontend.read(Bytes.ofText(text), "m.relay", Optional.of(params), "m.params", "default");
        Function whole = RelayFrontend.read(Bytes.ofText(exact), "m.relay", Optional.of(params), "m.params", "default");

        assertThat(List.of(answers(function, 0), answers(function, 1), answers(whole, 2)))
                .allMatch(answer -> answer);
        Function again = RelayFrontend.read(
                Bytes.ofText(RelayPrinter.astext(function)), "m.relay", Optional.empty(), "m.params", "default");
        assertThat(again).isEqualTo(function);
    }

    private static boolean answers(Function function, int k) throws IOException {
        Path vectors = SharedFolder.need("tvm").resolve("relay").resolve("kws_ref_model_vectors");
        Bytes input = Bytes.wrap(Files.readAllBytes(vectors.resolve("input_" + k + ".bin")));
        Bytes expected = Bytes.wrap(Files.readAllBytes(vectors.resolve("output_" + k + ".bin")));
        return Interpreter.run(function, List.of(input)).get(0).equals(expected);
    }

    private static Function read(String text, NamedTensor... tensors) {
        return RelayFrontend.read(
                Bytes.ofText(text),
                "m.relay",
                Optional.of(ParameterFile.write(Arrays.asList(tensors))),
                "m.params",
                "default");
    }

    private static NamedTensor vector(String name, int... values) {
        byte[] data = new byte[4 * values.length];
        for (int i = 0; i < values.length; i++) {
            data[4 * i] = (byte) values[i];
        }
        return new NamedTensor(name, DType.INT32, List.of(values.length), Bytes.wrap(data));
    }

    /** The first two columns: a parameter of the file, and its name in the text. */
    @ParameterizedTest
    @CsvSource({"_param_1, v_param_1", "1, v1", "'', v", "/conv/w:0, v/conv/w:0", "w, w", "ä, vä", "v_p, v_p"})
    void namesThatBeginWithNoLetterGetOne(String inFile, String inText) {
        Function function = read(
                "def @main(%in:0: Tensor[(2), int32], %" + inText + ": Tensor[(2), int32]) {\n  add(%in:0, %" + inText
                        + ")\n}\n",
                vector(inFile, 5, 6));

        assertThat(function.params()).extracting(Parameter::name).containsExactly("in:0");
        assertThat(first(function, 1, 2)).containsExactly(6, 0, 0, 0, 8, 0, 0, 0);
    }

    private static byte[] first(Function function, int... values) {
        return Interpreter.run(function, List.of(vector("", values).data()))
                .get(0)
                .toArray();
    }

    @Test
    void aNameThatWasPrintedBeforeIsFoundByItsType() {
        String text = "def @main(%v_p: Tensor[(2), int32], %v_p1: Tensor[(1), int32]) {\n  add(%v_p, %v_p1)\n}\n";

        assertThat(read(text, vector("v_p", 5)).params())
                .extracting(Parameter::name)
                .containsExactly("v_p");
        assertThat(first(read(text, vector("_p", 5)), 1, 2)).containsExactly(6, 0, 0, 0, 7, 0, 0, 0);
        assertThatThrownBy(() -> read(text.replace("(1)", "(2)"), vector("_p", 5, 6)))
                .hasMessageContaining("`_p` may be any of %v_p, %v_p1");
        assertThatThrownBy(() -> read(text, vector("_p", 5, 6), vector("v_p", 5, 6)))
                .hasMessageContaining("`_p` and `v_p` are all printed as %v_p");
        assertThatThrownBy(() -> read(text, vector("_q", 5))).hasMessageContaining("@main has no parameter %_q");
    }

    @Test
    void namesGoAsFarAsTheyGo() {
        Function function = read("""
            def @main(%a/b;c-1:0: Tensor[(2), int32], %x:int32, %y : int32) {
              %0 = add(%a/b;c-1:0/* %x */, %x);
              let %z.w:0:Tensor[(2), int32] = add(%0,%y);
              (%z.w:0,%0)
            }
            """);
        assertThat(function.params()).extracting(Parameter::name).containsExactly("a/b;c-1:0", "x", "y");
        assertThat(function.results()).hasSize(2);
    }

    @Test
    void tuplesAreTakenApart() {
        Function function = read("""
            def @main(%x: Tensor[(6), int32]) -> (Tensor[(4), int32], Tensor[(2), int32]) {
              %0 = split(%x, indices_or_sections=[2, 4]) /* ty=(Tensor[(2), int32], Tensor[(2), int32], Tensor[(2), int32]) */;
              %1 = %0.2;
              let %t = (%1, %0.0);
              %2 = concatenate(%t) /* ty=Tensor[(4), int32] */;
              %3 = (%2, add(split(%x, indices_or_sections=3).1, %t.1));
              %3
            }
            """);
        Bytes input = vector("", 1, 2, 3, 4, 5, 6).data();
        List<Bytes> results = Interpreter.run(function, List.of(input));

        assertThat(results.get(0)).isEqualTo(vector("", 5, 6, 1, 2).data());
        assertThat(results.get(1)).isEqualTo(vector("", 4, 6).data());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "%0.3 | there is no element 3 of it",
                "%x.0 | %x.0 is not defined",
                "add(%0, %x) | it takes 2 arguments, not 3",
                "nn.relu(%0.0).1 | there is no element 1 of it",
                "split(%x, indices_or_sections=3).0 | 4 elements have no 3 equal parts",
                "split(%x, indices_or_sections=[3, 2]).0 | which do not ascend"
            })
    void wrongElementsAreTold(String result, String message) {
        assertThatThrownBy(() -> read("def @main(%x: Tensor[(4), float32]) {\n"
                        + "  %0 = split(%x, indices_or_sections=2);\n  " + result + "\n}\n"))
                .hasMessageContaining(message);
    }

    @Test
    void numbersThatAreNotFiniteComeBack() {
        Function function = read("""
            def @main(%x: Tensor[(2), float32]) {
              %0 = maximum(%x, -inff /* ty=float32 */);
              %1 = clip(%0, a_min=-inff, a_max=inff);
              %2 = minimum(%1, inff);
              add(%2, nanf)
            }
            """);
        Function again = RelayFrontend.read(
                Bytes.ofText(RelayPrinter.astext(function)), "m.relay", Optional.empty(), "m.params", "default");

        assertThat(RelayPrinter.astext(function)).contains("-inff", ", inff", "a_min=-inff, a_max=inff");
        assertThat(again).isEqualTo(function);
    }

    @Test
    void whatIsSaidOfDevicesIsNotRead() {
        Function function = read("""
            #[version = "0.0.5"]
            def @main(%x {virtual_device_=VirtualDevice(device_type=1, target=Target(id=1, attrs={"mcpu": "x", "keys": ["cpu"]}))}: Tensor[(2), float32] /* ty=Tensor[(2), float32] span=x:0:0 */, hash="c0", executor=meta[Executor][0], runtime=meta[Runtime][0], param_device_types=[], src={"a": [1]}, virtual_device_=VirtualDevice(device_type=1)) -> Tensor[(2), float32] {
              %0 = nn.relu(%x) /* ty=Tensor[(2), float32] span=from_string:3:8 */;
              copy(%0) /* ty=Tensor[(2), float32] */
            } /* ty=fn (Tensor[(2), float32]) -> Tensor[(2), float32] */
            """);
        assertThat(function.bindings()).hasSize(2);
    }
}
