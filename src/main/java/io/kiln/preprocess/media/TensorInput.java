// SPDX-License-Identifier: Apache-2.0
package io.kiln.preprocess.media;

import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.preprocess.Preprocessing;
import io.kiln.preprocess.Recording;
import io.kiln.preprocess.media.SampleForms.Channels;
import io.kiln.preprocess.media.SampleForms.Fit;
import io.kiln.preprocess.media.SampleForms.Image;
import io.kiln.preprocess.media.SampleForms.Layout;
import io.kiln.preprocess.media.SampleForms.Resize;
import io.kiln.preprocess.media.SampleForms.Size;
import io.kiln.preprocess.media.SampleForms.Sound;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** Fills a model's input with a picture or a recording. */
final class TensorInput {
    private static final Set<DType> TYPES = Set.of(DType.FLOAT32, DType.INT8, DType.UINT8, DType.INT16);

    private final TensorInfo input;
    private final String description;

    /**
     * An input.
     *
     * @param description the file that describes samples, for messages
     */
    TensorInput(TensorInfo input, String description) {
        if (!TYPES.contains(input.dtype())) {
            throw refused(
                    "the model's input " + described(input) + " is of a type that is none of pictures and recordings",
                    description,
                    "float32, int8, uint8 or int16");
        }
        this.input = input;
        this.description = description;
    }

    Bytes picture(Path file, Optional<Image> form) {
        Image image = form.orElseThrow(missing("image", file));
        Picture read = Picture.read(file);
        Picture picture = image.channels() == Channels.GRAY ? read.grey() : read.colour();
        RealPicture sized = sized(RealPicture.of(picture), image, file);
        return values(ordered(sized, image, file));
    }

    Bytes recording(Path file, Optional<Sound> form, Optional<Preprocessing> preprocessing) {
        if (form.isEmpty() && preprocessing.isPresent()) {
            int rate = preprocessing.get().pipeline().sampleRate();
            int samples = preprocessing.get().samples(input);
            short[] audio = Recording.samples(Recording.read(file, rate, samples));
            return input.dtype().isFloat()
                    ? values(preprocessing.get().features(input, audio))
                    : preprocessing.get().input(input, audio);
        }
        Sound sound = form.orElseThrow(missing("sound", file));
        int samples = Math.toIntExact(input.elements());
        short[] audio = Recording.samples(Recording.read(file, sound.sampleRate(), samples));
        float[] values = new float[samples];
        for (int i = 0; i < samples; i++) {
            values[i] = sound.normalize().of(audio[i], 0);
        }
        return values(values);
    }

    private Supplier<KilnException> missing(String section, Path file) {
        return () -> refused(
                "nothing says how " + file.getFileName() + " becomes the model's input " + described(input),
                description,
                section + ": in this file, see samples.schema.json");
    }

    private RealPicture sized(RealPicture picture, Image image, Path file) {
        RealPicture resized = image.resize()
                .map(resize -> resized(picture, resize, image.crop().isEmpty()))
                .orElse(picture);
        if (image.crop().isEmpty()) {
            return resized;
        }
        Size crop = image.crop().get();
        if (crop.height() > resized.height() || crop.width() > resized.width()) {
            throw refused(
                    "a picture of " + size(resized) + " is smaller than crop, which is " + crop.height() + " x "
                            + crop.width(),
                    file.toString(),
                    "resize: to a larger size in " + description);
        }
        return resized.cropped(crop.height(), crop.width());
    }

    private static RealPicture resized(RealPicture picture, Resize resize, boolean isLast) {
        int height = resize.size().height();
        int width = resize.size().width();
        if (resize.fit() == Fit.STRETCH) {
            return picture.resized(height, width, resize.method());
        }
        // Which side reaches the area's edge; the other is rounded down, as in torchvision.
        boolean isTaller = (long) height * picture.width() > (long) width * picture.height();
        boolean byHeight = isTaller == (resize.fit() == Fit.COVER);
        int newHeight = byHeight ? height : (int) ((long) picture.height() * width / picture.width());
        int newWidth = byHeight ? (int) ((long) picture.width() * height / picture.height()) : width;
        if (resize.fit() == Fit.CONTAIN) {
            return picture.resized(Math.max(1, newHeight), Math.max(1, newWidth), resize.method())
                    .padded(height, width, resize.fill());
        }
        Picture.checkSize("a picture that is resized to cover its area", newHeight, newWidth);
        RealPicture covering = picture.resized(newHeight, newWidth, resize.method());
        return isLast ? covering.cropped(height, width) : covering;
    }

    /** The channels as wanted, normalized, in the layout of the input. */
    private float[] ordered(RealPicture picture, Image image, Path file) {
        boolean isPlanar = isPlanar(picture, image, file);
        int channels = picture.channels();
        int area = picture.height() * picture.width();
        float[] values = new float[area * channels];
        for (int i = 0; i < area; i++) {
            for (int c = 0; c < channels; c++) {
                int from = image.channels() == Channels.BGR ? channels - 1 - c : c;
                int to = isPlanar ? c * area + i : i * channels + c;
                values[to] = image.normalize().of(picture.value(i, from), c);
            }
        }
        return values;
    }

    /** Whether the channels are the dimension before height and width. Dimensions of 1 in front do not count. */
    private boolean isPlanar(RealPicture picture, Image image, Path file) {
        List<Integer> shape = input.shape();
        List<Integer> last = List.of(picture.height(), picture.width(), picture.channels());
        List<Integer> first = List.of(picture.channels(), picture.height(), picture.width());
        List<Integer> flat = List.of(picture.height(), picture.width());
        boolean fitsLast = ends(shape, last) || (picture.channels() == 1 && ends(shape, flat));
        boolean fitsFirst = ends(shape, first);
        boolean wantsFirst = image.layout().map(layout -> layout == Layout.NCHW).orElse(fitsFirst && !fitsLast);
        if (wantsFirst ? !fitsFirst : !fitsLast) {
            throw refused(
                    "a picture of " + size(picture) + " with " + picture.channels()
                            + " channels does not fill the input " + described(input),
                    file.toString(),
                    "resize:, crop:, channels: or layout: in " + description + " with which it does");
        }
        return wantsFirst;
    }

    private static boolean ends(List<Integer> shape, List<Integer> end) {
        int before = shape.size() - end.size();
        return before >= 0
                && shape.subList(before, shape.size()).equals(end)
                && shape.subList(0, before).stream().allMatch(dimension -> dimension == 1);
    }

    /**
     * Real numbers as elements of the input. Integers are {@code round(value / scale) + zeroPoint}, halves away from zero, in single precision
     * as TensorFlow Lite's quantization; without a scale they are rounded.
     */
    private Bytes values(float... values) {
        int bytes = input.dtype().bytes();
        ByteBuffer buffer = ByteBuffer.allocate(values.length * bytes).order(ByteOrder.LITTLE_ENDIAN);
        for (float value : values) {
            switch (input.dtype()) {
                case FLOAT32 -> buffer.putFloat(value);
                case INT16 -> buffer.putShort((short) steps(value, Short.MIN_VALUE, Short.MAX_VALUE));
                case UINT8 -> buffer.put((byte) steps(value, 0, 255));
                default -> buffer.put((byte) steps(value, Byte.MIN_VALUE, Byte.MAX_VALUE));
            }
        }
        return Bytes.wrap(buffer.array());
    }

    private long steps(float value, int low, int high) {
        float steps = input.scale() > 0 ? value / input.scale() : value;
        long rounded = (long) Math.copySign(Math.floor(Math.abs((double) steps) + 0.5), steps) + input.zeroPoint();
        return Math.max(low, Math.min(high, rounded));
    }

    private static String size(RealPicture picture) {
        return picture.height() + " x " + picture.width();
    }

    private static String described(TensorInfo input) {
        return "`" + input.name() + "` " + input.dtype().text() + input.shape();
    }

    private static KilnException refused(String what, String where, String expected) {
        return new KilnException(Failure.SAMPLES.problem(what, where, expected, ""));
    }
}
