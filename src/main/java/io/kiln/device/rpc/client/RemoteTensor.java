// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.client;

import io.kiln.base.Bytes;
import io.kiln.device.rpc.packet.PacketReader;
import io.kiln.device.rpc.packet.PacketWriter;
import io.kiln.device.rpc.packet.RpcCode;
import io.kiln.device.rpc.packet.RpcException;
import io.kiln.device.rpc.packet.RpcValue;
import io.kiln.device.rpc.packet.RpcValue.TypeCode;
import java.util.Arrays;

/** A tensor in the board's memory. */
public final class RemoteTensor implements AutoCloseable {
    /** Bytes of a copy's request beside its data and 8 for each dimension: code, tensor, number of bytes. */
    private static final int COPY_HEAD = 44;

    private final RpcClient client;
    private final RpcValue.Tensor tensor;
    private final int bytes;
    private final Runnable release;
    private boolean isClosed;

    private RemoteTensor(RpcClient client, RpcValue.Tensor tensor, Runnable release) {
        this.client = client;
        this.tensor = tensor;
        this.bytes = size(tensor);
        this.release = release;
    }

    /** Memory that the board allocated for this client. */
    static RemoteTensor allocated(RpcClient client, RpcValue.Tensor tensor) {
        return new RemoteTensor(
                client,
                tensor,
                () -> client.requestVoid(
                        new PacketWriter(RpcCode.DEV_FREE_DATA), tensor.device(), new RpcValue.Handle(tensor.data())));
    }

    /** Memory that this object does not own. */
    static RemoteTensor borrowed(RpcClient client, RpcValue.Tensor tensor) {
        return new RemoteTensor(client, tensor, () -> {});
    }

    /** An array that a function returned. */
    static RemoteTensor array(RpcClient client, RpcValue.Tensor tensor, long handle) {
        return new RemoteTensor(client, tensor, () -> client.free(handle, TypeCode.ND_ARRAY));
    }

    private static int size(RpcValue.Tensor tensor) {
        try {
            int bytes = Math.toIntExact(tensor.bytes());
            if (bytes >= 0 && tensor.shape().stream().allMatch(extent -> extent >= 0)) {
                return bytes;
            }
        } catch (ArithmeticException e) {
            // Too large for a long: the same error as too large for an int.
            throw tooLarge(tensor, e);
        }
        throw tooLarge(tensor, new ArithmeticException("negative extent"));
    }

    private static RpcException tooLarge(RpcValue.Tensor tensor, ArithmeticException why) {
        RpcException e = RpcException.malformed(
                "a tensor of shape " + tensor.shape(), "extents that are not negative, and less than 2 GiB in all");
        e.initCause(why);
        return e;
    }

    /** Address, type and shape; also the tensor as an argument. */
    public RpcValue.Tensor value() {
        return tensor;
    }

    /** Bytes of all elements. */
    public int bytes() {
        return bytes;
    }

    /**
     * Writes all elements, block by block, as large as the server's buffer takes them.
     *
     * @param content as many bytes as the tensor has
     */
    public void upload(Bytes content) {
        requireSize(content.size());
        byte[] all = content.toArray();
        int block = blockBytes();
        for (int at = 0; at < bytes; at += block) {
            byte[] part = Arrays.copyOfRange(all, at, Math.min(bytes, at + block));
            client.requestVoid(new PacketWriter(RpcCode.COPY_TO_REMOTE)
                    .tensor(tensor.at(tensor.byteOffset() + at))
                    .u64(part.length)
                    .raw(part));
        }
    }

    /** Reads all elements, block by block. */
    public Bytes download() {
        byte[] all = new byte[bytes];
        int block = blockBytes();
        for (int at = 0; at < bytes; at += block) {
            int size = Math.min(block, bytes - at);
            PacketWriter request = new PacketWriter(RpcCode.COPY_FROM_REMOTE)
                    .tensor(tensor.at(tensor.byteOffset() + at))
                    .u64(size);
            PacketReader reply = client.exchange(request, RpcCode.COPY_ACK, size);
            Bytes part = reply.rest();
            if (part.size() != size) {
                throw RpcException.malformed("the board sent " + part.size() + " bytes of a tensor", size + " bytes");
            }
            System.arraycopy(part.toArray(), 0, all, at, size);
        }
        return Bytes.wrap(all);
    }

    /** Copies all elements to another tensor of the board's, of as many bytes. */
    public void copyTo(RemoteTensor other) {
        other.requireSize(bytes);
        client.requestVoid(new PacketWriter(RpcCode.COPY_AMONG_REMOTE), tensor, other.tensor, new RpcValue.Handle(0));
    }

    private void requireSize(int given) {
        if (given != bytes) {
            throw new IllegalArgumentException("a tensor of " + bytes + " bytes was given " + given);
        }
    }

    private int blockBytes() {
        int head = COPY_HEAD + Long.BYTES * tensor.shape().size();
        int block = client.mostPacketBytes() - head;
        if (block < 1) {
            throw RpcException.malformed(
                    "the server takes packets of " + client.mostPacketBytes() + " bytes",
                    "more than " + head + ", or no tensor of this shape can be copied");
        }
        return block;
    }

    /** Frees the memory on the board. */
    @Override
    public void close() {
        if (!isClosed) {
            isClosed = true;
            release.run();
        }
    }
}
