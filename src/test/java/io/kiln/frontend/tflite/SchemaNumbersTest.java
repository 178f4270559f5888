// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.flatbuffers.FlatBufferBuilder;
import io.kiln.base.Bytes;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.Field;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatTable;
import io.kiln.frontend.tflite.schema.BuiltinOperator;
import io.kiln.frontend.tflite.schema.ModelTables;
import io.kiln.frontend.tflite.schema.OperatorOptions;
import io.kiln.frontend.tflite.schema.OperatorOptions.OptionsType;
import io.kiln.frontend.tflite.schema.SchemaEnums.FusedActivation;
import io.kiln.frontend.tflite.schema.SchemaEnums.MirrorPadMode;
import io.kiln.frontend.tflite.schema.SchemaEnums.Padding;
import io.kiln.frontend.tflite.schema.SchemaEnums.TfliteType;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tensorflow.lite.schema.ActivationFunctionType;
import org.tensorflow.lite.schema.BuiltinOptions;
import org.tensorflow.lite.schema.TensorType;

/** Every number of the schema that Kiln states is the one of the accessors that TensorFlow generates from the schema. */
class SchemaNumbersTest {
    private static final String GENERATED = "org.tensorflow.lite.schema.";
    private static final int MOST_FIELDS = 40;
    private static final int ELEMENTS = 3;

    /** Fields that the schema got after TensorFlow published its accessors for Java. */
    private static final Set<String> NEWER = Set.of(
            "Buffer.OFFSET",
            "Buffer.SIZE",
            "Operator.BUILTIN_OPTIONS_2_TYPE",
            "Operator.BUILTIN_OPTIONS_2",
            "Tensor.EXTERNAL_BUFFER",
            "Model.EXTERNAL_BUFFER_GROUPS",
            "Model.EXTERNAL_BUFFERS");

    /** All but those that are newer than the generated classes. */
    static Stream<Class<?>> modelTables() {
        return Arrays.stream(ModelTables.class.getDeclaredClasses())
                .filter(table -> table != ModelTables.ExternalBuffer.class)
                .filter(table -> table != ModelTables.BlockwiseQuantization.class);
    }

    static Stream<Class<?>> optionsTables() {
        return Arrays.stream(OperatorOptions.class.getDeclaredClasses()).filter(Class::isInterface);
    }

    @ParameterizedTest
    @MethodSource("modelTables")
    void fieldsOfModelTables(Class<?> table) throws ReflectiveOperationException {
        checkFields(table, Class.forName(GENERATED + table.getSimpleName()));
    }

    @ParameterizedTest
    @MethodSource("optionsTables")
    void fieldsOfOptionsTables(Class<?> table) throws ReflectiveOperationException {
        checkFields(table, Class.forName(GENERATED + table.getSimpleName() + "Options"));
    }

    @ParameterizedTest
    @MethodSource("optionsTables")
    void typesOfOptionsTables(Class<?> table) throws ReflectiveOperationException {
        OptionsType type = (OptionsType) table.getField("TYPE").get(null);
        assertThat(BuiltinOptions.name(type.code())).isEqualTo(table.getSimpleName() + "Options");
    }

    @Test
    void codesOfOperators() {
        String[] names = org.tensorflow.lite.schema.BuiltinOperator.names;
        assertThat(Arrays.stream(BuiltinOperator.values()).map(Enum::name)).startsWith(names);
        for (BuiltinOperator operator : BuiltinOperator.values()) {
            assertThat(List.of(BuiltinOperator.values()).indexOf(operator)).isEqualTo(operator.code());
            assertThat(BuiltinOperator.of(operator.code())).contains(operator);
        }
        assertThat(BuiltinOperator.of(BuiltinOperator.values().length)).isEmpty();
    }

    @Test
    void codesOfEnums() {
        assertThat(names(FusedActivation.values())).containsExactly(ActivationFunctionType.names);
        assertThat(names(Padding.values())).containsExactly(org.tensorflow.lite.schema.Padding.names);
        assertThat(names(MirrorPadMode.values())).containsExactly(org.tensorflow.lite.schema.MirrorPadMode.names);
        assertThat(names(TfliteType.values())).startsWith(TensorType.names);
    }

    private static List<String> names(Enum<?>... values) {
        return Arrays.stream(values).map(Enum::name).toList();
    }

    private static void checkFields(Class<?> table, Class<?> generated) throws ReflectiveOperationException {
        int checked = 0;
        for (java.lang.reflect.Field constant : table.getFields()) {
            String name = table.getSimpleName() + "." + constant.getName();
            if (constant.get(null) instanceof Field field && !NEWER.contains(name)) {
                checkPlace(name, field, camel(constant.getName()), generated);
                checkDefault(name, field, camel(constant.getName()), generated);
                checked++;
            }
        }
        assertThat(checked).isPositive();
    }

    /** A value that TensorFlow's accessors write is read at the field, and nothing else is. */
    private static void checkPlace(String name, Field field, String camel, Class<?> generated)
            throws ReflectiveOperationException {
        Method add = Stream.of(generated.getMethods())
                .filter(m -> m.getName().equals("add" + camel))
                .findFirst()
                .orElseThrow(() -> new AssertionError(generated + " has no " + camel));
        FlatBufferBuilder b = new FlatBufferBuilder();
        Object value = value(field, b);
        b.startTable(MOST_FIELDS);
        add.invoke(null, b, value);
        b.finish(b.endTable());
        FlatTable table = root(b);
        assertThat(table.has(field)).as(name).isTrue();
        assertThat(read(table, field)).as(name).isEqualTo(field instanceof Field.UByte ? 5 : expected(field, value));
        if (field instanceof Field.Vector vector) {
            assertThat(elementBytes(camel, generated)).as(name).isEqualTo(vector.elementBytes());
        }
    }

    /** What a table without the field reads as is the accessor's default. */
    private static void checkDefault(String name, Field field, String camel, Class<?> generated)
            throws ReflectiveOperationException {
        FlatBufferBuilder b = new FlatBufferBuilder();
        b.startTable(MOST_FIELDS);
        b.finish(b.endTable());
        Object read = read(root(b), field);
        if (field instanceof Field.Vector || field instanceof Field.Table || field instanceof Field.Text) {
            assertThat(read).as(name).isEqualTo(field instanceof Field.Text ? "" : 0);
            return;
        }
        Object root = generated
                .getMethod("getRootAs" + generated.getSimpleName(), ByteBuffer.class)
                .invoke(null, ByteBuffer.wrap(b.sizedByteArray()));
        String getter = Character.toLowerCase(camel.charAt(0)) + camel.substring(1);
        Object standard = generated.getMethod(getter).invoke(root);
        assertThat(String.valueOf(read)).as(name).isEqualTo(String.valueOf(standard));
    }

    private static FlatTable root(FlatBufferBuilder b) {
        return new FlatBuffer("test", Bytes.wrap(b.sizedByteArray()), 1000).root();
    }

    private static Object value(Field field, FlatBufferBuilder b) {
        if (field instanceof Field.UByte) {
            return (byte) 5;
        }
        if (field instanceof Field.Bool) {
            return true;
        }
        if (field instanceof Field.Real) {
            return 2.5f;
        }
        if (field instanceof Field.Text) {
            return b.createString("text");
        }
        if (field instanceof Field.Table) {
            b.startTable(0);
            return b.endTable();
        }
        if (field instanceof Field.Vector vector) {
            b.startVector(vector.elementBytes(), ELEMENTS, vector.elementBytes());
            b.pad(ELEMENTS * vector.elementBytes());
            return b.endVector();
        }
        return 77;
    }

    private static Object expected(Field field, Object value) {
        if (field instanceof Field.Text) {
            return "text";
        }
        return field instanceof Field.Vector ? ELEMENTS : field instanceof Field.Table ? 1 : value;
    }

    /** A scalar or text; the size of a vector, or how many tables there are. */
    private static Object read(FlatTable table, Field field) {
        if (field instanceof Field.UByte f) {
            return table.get(f);
        }
        if (field instanceof Field.Bool f) {
            return table.get(f);
        }
        if (field instanceof Field.Int32 f) {
            return table.get(f);
        }
        if (field instanceof Field.Real f) {
            return table.get(f);
        }
        if (field instanceof Field.Text f) {
            return table.get(f, 100);
        }
        if (field instanceof Field.Table f) {
            return (int) table.get(f).stream().count();
        }
        return field instanceof Field.Vector f ? table.get(f).size() : table.get((Field.Int64) field);
    }

    /** Size of the elements that the accessors write; offsets to tables, and numbers of single precision, have 4 bytes. */
    private static int elementBytes(String camel, Class<?> generated) {
        Optional<Class<?>> element = Stream.of(generated.getMethods())
                .filter(m -> m.getName().equals("create" + camel + "Vector"))
                .<Class<?>>map(m -> m.getParameterTypes()[1])
                .filter(Class::isArray)
                .<Class<?>>map(Class::getComponentType)
                .findFirst();
        Class<?> type = element.orElseThrow();
        return type == byte.class ? Byte.BYTES : type == long.class ? Long.BYTES : Integer.BYTES;
    }

    /** {@code STRIDE_W} as {@code StrideW}. */
    private static String camel(String name) {
        return Stream.of(name.split("_", -1))
                .map(word -> word.charAt(0) + word.substring(1).toLowerCase(java.util.Locale.ROOT))
                .collect(Collectors.joining());
    }
}
