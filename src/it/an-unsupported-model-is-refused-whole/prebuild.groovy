// SPDX-License-Identifier: Apache-2.0
// The example model with its operator codes CONV_2D (3) and SOFTMAX (25) replaced by LSTM (16) and ONE_HOT (85).
import java.nio.ByteBuffer
import java.nio.ByteOrder

def bytes = new File(quickstart, 'src/main/model/gesture.tflite').bytes
def buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)
def table = buffer.getInt(0)
// Where a field of a flatbuffer table lies, -1 if it is left out.
def field = { int at, int index ->
    def vtable = at - buffer.getInt(at)
    def offset = 4 + 2 * index < buffer.getShort(vtable) ? buffer.getShort(vtable + 4 + 2 * index) : 0
    offset == 0 ? -1 : at + offset
}
def codesField = field(table, 1)
def codes = codesField + buffer.getInt(codesField)
def replaced = [3: 16, 25: 85]
buffer.getInt(codes).times { i ->
    def element = codes + 4 + 4 * i
    def code = element + buffer.getInt(element)
    def old = field(code, 0)
    def wide = field(code, 3)
    def to = replaced[wide >= 0 ? buffer.getInt(wide) : (int) bytes[old]]
    if (to != null) {
        if (old >= 0) { bytes[old] = (byte) Math.min(to, 127) }
        if (wide >= 0) { buffer.putInt(wide, to) }
    }
}
def models = new File(basedir, 'src/main/model')
models.mkdirs()
new File(models, 'unsupported.tflite').bytes = bytes
return true
