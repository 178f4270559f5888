// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Verifier;
import io.kiln.reference.Interpreter;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Functions of a text, and operators that call them. */
class ControlFlowTextTest {
    /** Doubles a number until it is no longer below a limit; counts all doublings in a variable. */
    private static final String DOUBLING = """
        def @below(%v: float32, %limit: float32) {
          less(%v, %limit)
        }

        def @main(%x: float32, %limit: float32) {
          %count = ref(0f);
          %v = ref(0f);
          %end = ref(0f);
          %0 = ref_write(%v, %x);
          %1 = ref_write(%end, %limit);
          %2 = tfl.while(%v, %end, %count, condition=@below, body=@double, loop_variables=2, condition_variables=[], body_variables=[0]);
          (%v, %count)
        }

        def @double(%v: float32, %limit: float32) {
          %count = ref(0f);
          %0 = add(%count, 1f);
          %1 = ref_write(%count, %0);
          (add(%v, %v), copy(%limit))
        }
        """;

    /** Calls nothing, or any of the functions that are put before it. */
    private static final String CHOICE = """
        def @main(%c: bool, %x: float32) {
          %y = ref(0f);
          %0 = tfl.if(%c, %x, %y, then=@twice, otherwise=@same, inputs=1, results=1, then_variables=[], otherwise_variables=[]);
          %y
        }
        def @twice(%x: float32) { add(%x, %x) }
        def @same(%x: float32) { copy(%x) }
        """;

    private static Function read(String text) {
        return RelayFrontend.read(Bytes.ofText(text), "m.relay", Optional.empty(), "m.params", "default");
    }

    private static Bytes floats(float... values) {
        return Constant.vector(values).data();
    }

    /** Two sums with constants are one bias: the first sum is left out of a function that also calls others. */
    @Test
    void replacedOperatorsAreLeftOutBesideCalls() {
        String text = CHOICE.replace("%x: float32) {\n  %y", "%x: float32, %d: Tensor[(1, 2), int8]) {\n  %y")
                .replace("  %y\n", """
              %1 = qnn.dense(%d, ones(shape=[2, 2], dtype="int8"), 0, 0, 0.5f, 0.5f, units=2, out_dtype="int32");
              %2 = add(%1, ones(shape=[2], dtype="int32"));
              %3 = add(%2, ones(shape=[2], dtype="int32"));
              (%y, qnn.requantize(%3, 0.25f, 0, 1f, 0, out_dtype="int8"))
            """);
        Function function = read(text);
        Verifier.verify(function);
        assertThat(function.bindings())
                .extracting(binding -> binding.op().name())
                .containsExactly("tfl.if", "qnn.dense", "nn.bias_add", "qnn.requantize");
    }

    @Test
    void aLoopWrittenByHandRuns() {
        Function function = read(DOUBLING);
        Verifier.verify(function);
        assertThat(function.functions()).extracting(Function::name).containsExactly("below", "double");
        Interpreter.State state = Interpreter.State.initial(function);
        assertThat(Interpreter.run(function, List.of(floats(3f), floats(20f)), state))
                .containsExactly(floats(24f), floats(3f));
        assertThat(Interpreter.run(function, List.of(floats(1f), floats(2f)), state))
                .containsExactly(floats(2f), floats(4f));
        assertThat(Interpreter.run(function, List.of(floats(7f), floats(2f)), state))
                .containsExactly(floats(7f), floats(4f));
    }

    @Test
    void oneFunctionMayBeCalledTwice() {
        Function function =
                read(CHOICE.replace("@same, inputs", "@twice, inputs").replaceFirst("def @same.*", ""));
        assertThat(function.functions()).hasSize(1);
        assertThat(Interpreter.run(function, List.of(Bytes.wrap(new byte[1]), floats(1f))))
                .containsExactly(floats(2f));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "then=@twice | then=@twise | there is no function @twise | Did you mean @twice",
                "then=@twice | then=@main | @main calls itself | without recursion",
                "{ copy(%x) } | { copy(%x) } def @other() { () } | @other is never called | m.relay:7:",
                "{ copy(%x) } | { copy(%x) } def @same() { () } | @same is defined twice | a different name",
                "then=@twice | then=1 | the attribute then of tfl.if is wrong | the name of a function",
                "then=@twice, | '' | tfl.if has no attribute then | m.relay:3:8",
                "inputs=1 | inputs=0 | takes 2 arguments, not 3 | tfl.if",
                "%c: bool | %c: int8 | condition must be bool | tfl.if",
                "then_variables=[] | then_variables=[0] | takes 4 arguments, not 3 | tfl.if",
                "{ add(%x, %x) } | { reshape(%x, newshape=[1, 1]) } | `twice`, which it calls, computes | (1, 1)",
                "{ add(%x, %x) } | { (add(%x, %x), copy(%x)) } | `twice`, which it calls, computes | tfl.if",
                "@twice(%x: float32) { add(%x, %x) } | @twice() { () } | takes nothing, not | tfl.if",
                "{ add(%x, %x) } | { %x } | the result is an input or a constant | m.relay:6:",
                "{ add(%x, %x) } | { ref_write(%x, %x) } | argument 1 of ref_write is not a variable | the result of a"
                        + " ref",
                "%x, %y, then | %y, %y, then | argument 3, which it changes, is given to it twice | tfl.if",
                "%x, %y, then | %x, %x, then | argument 3 of tfl.if is not a variable | the result of a ref",
                "add(%x, %x) | @same(%x) | a call of `@same` is not supported | tfl.while",
                "then=@twice | then=[@twice] | the attribute then of tfl.if is wrong | the name of a function"
            })
    void aCallThatDoesNotFitIsToldWithItsPlace(String from, String to, String what, String more) {
        assertThat(CHOICE).contains(from);
        assertThat(read(CHOICE).functions()).hasSize(2);
        KilnException e =
                catchThrowableOfType(KilnException.class, () -> read(CHOICE.replaceFirst(Pattern.quote(from), to)));
        assertThat(e.problems()).hasSizeLessThan(3).anySatisfy(p -> {
            assertThat(p.text()).contains(what, more);
            assertThat(p.where()).matches("m\\.relay:[0-9]+:[0-9]+");
        });
    }

    @Test
    void aLoopAsksForOneBool() {
        String text = DOUBLING.replace("less(%v, %limit)", "add(%v, %limit)");
        assertThat(catchThrowableOfType(KilnException.class, () -> read(text)))
                .hasMessageContaining("its condition computes float32, not one bool element");
    }

    /** Functions each of which calls the next two, or one of the next twice. */
    private static String levels(int count, boolean branches) {
        String call = "(%%c: bool) { %%0 = tfl.if(%%c, %%c, then=@f%d, otherwise=@%s%d, inputs=1,"
                + " results=0, then_variables=[], otherwise_variables=[]); () }\n";
        String other = branches ? "g" : "f";
        return String.format(Locale.ROOT, "def @main" + call.replace("()", "copy(%%c)"), 0, "f", 0)
                + IntStream.range(0, count)
                        .mapToObj(i -> String.format(Locale.ROOT, "def @f" + i + call, i + 1, other, i + 1)
                                + (branches
                                        ? String.format(Locale.ROOT, "def @g" + i + call, i + 1, other, i + 1)
                                        : ""))
                        .collect(Collectors.joining())
                        .replace("otherwise=@g0", "otherwise=@f0");
    }

    @ParameterizedTest
    @CsvSource({"20000, false, more than 16 deep", "12, true, at most 256", "20000, true, more than 16 deep"})
    void callsNeitherGoTooDeepNorMultiplyWithoutEnd(int count, boolean branches, String message) {
        String last = count + "(%c: bool) { () }\n";
        String text = levels(count, branches) + "def @f" + last + (branches ? "def @g" + last : "");
        assertThat(catchThrowableOfType(KilnException.class, () -> read(text)))
                .hasMessageContaining(message)
                .hasMessageNotContaining("never called");
    }
}
