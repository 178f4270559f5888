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
import io.kiln.preprocess.media.SampleForms.Taps;
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
        DType dtype = input.dtype();
        if (dtype.isFloat()) {
            return Bytes.ofReals(values.length, i -> values[i]);
        }
        return Bytes.ofIntegers(values.length, dtype.bytes(), i -> {
            float steps = input.scale() > 0 ? values[i] / input.scale() : values[i];
            long rounded = (long) Math.copySign(Math.floor(Math.abs((double) steps) + 0.5), steps) + input.zeroPoint();
            return Math.max(dtype.min(), Math.min(dtype.max(), rounded));
        });
    }

    private static String size(RealPicture picture) {
        return picture.height() + " x " + picture.width();
    }

    private static String described(TensorInfo input) {
        return "`" + input.name() + "` " + input.dtype().text() + input.shape();
    }

    private static KilnException refused(String what, String where, String expected) {
        return Failure.SAMPLES.exception(what, where, expected, "");
    }

    /** A picture of real numbers, {@code [height][width][channels]}, which resizing and cropping keep unrounded. */
    private static final class RealPicture {
        private final int height;
        private final int width;
        private final int channels;
        private final float[] values;

        private RealPicture(int height, int width, int channels, float... values) {
            this.height = height;
            this.width = width;
            this.channels = channels;
            this.values = values;
        }

        static RealPicture of(Picture picture) {
            float[] values = new float[picture.samples().size()];
            for (int i = 0; i < values.length; i++) {
                values[i] = picture.samples().get(i) & 0xff;
            }
            return new RealPicture(picture.height(), picture.width(), picture.channels(), values);
        }

        int height() {
            return height;
        }

        int width() {
            return width;
        }

        int channels() {
            return channels;
        }

        /** A channel of the pixel that is {@code index} pixels behind the first one. */
        float value(int index, int channel) {
            return values[index * channels + channel];
        }

        /** The picture in another size: first every row, then every column. */
        RealPicture resized(int newHeight, int newWidth, Taps.Method method) {
            return withWidth(Taps.of(method, width, newWidth)).withHeight(Taps.of(method, height, newHeight));
        }

        private RealPicture withWidth(Taps taps) {
            float[] result = new float[height * taps.size() * channels];
            for (int y = 0; y < height; y++) {
                for (int x = 0; x < taps.size(); x++) {
                    int from = (y * width + taps.first(x)) * channels;
                    weigh(taps, x, from, channels, (y * taps.size() + x) * channels, result);
                }
            }
            return new RealPicture(height, taps.size(), channels, result);
        }

        private RealPicture withHeight(Taps taps) {
            float[] result = new float[taps.size() * width * channels];
            for (int y = 0; y < taps.size(); y++) {
                for (int x = 0; x < width; x++) {
                    int from = (taps.first(y) * width + x) * channels;
                    weigh(taps, y, from, width * channels, (y * width + x) * channels, result);
                }
            }
            return new RealPicture(taps.size(), width, channels, result);
        }

        private void weigh(Taps taps, int index, int from, int step, int to, float[] result) {
            for (int c = 0; c < channels; c++) {
                double sum = 0;
                for (int k = 0; k < taps.count(index); k++) {
                    sum += taps.weight(index, k) * values[from + c + k * step];
                }
                result[to + c] = (float) sum;
            }
        }

        /** The middle; of an odd number of surplus rows or columns one more is cut off at the end. */
        RealPicture cropped(int newHeight, int newWidth) {
            return moved(newHeight, newWidth, -((height - newHeight) / 2), -((width - newWidth) / 2), 0);
        }

        /** In the middle of a larger area; of an odd number of free rows or columns one more is at the end. */
        RealPicture padded(int newHeight, int newWidth, float fill) {
            return moved(newHeight, newWidth, (newHeight - height) / 2, (newWidth - width) / 2, fill);
        }

        private RealPicture moved(int newHeight, int newWidth, int down, int right, float fill) {
            float[] result = new float[newHeight * newWidth * channels];
            for (int y = 0; y < newHeight; y++) {
                for (int x = 0; x < newWidth; x++) {
                    boolean isInside = y >= down && y < down + height && x >= right && x < right + width;
                    for (int c = 0; c < channels; c++) {
                        result[(y * newWidth + x) * channels + c] =
                                isInside ? values[((y - down) * width + x - right) * channels + c] : fill;
                    }
                }
            }
            return new RealPicture(newHeight, newWidth, channels, result);
        }
    }
}
