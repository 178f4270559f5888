// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir;

import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.call.ControlFlow.If;
import io.kiln.ir.op.call.ControlFlow.While;
import io.kiln.ir.op.call.CustomCall;
import io.kiln.ir.op.call.EthosU;
import io.kiln.ir.op.call.EthosU.EthosUTensor;
import io.kiln.ir.op.call.Variables.CircularBuffer;
import io.kiln.ir.op.call.Variables.RefWrite;
import io.kiln.ir.op.call.Variables.RingWrite;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Cast;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.FixedPointMultiply;
import io.kiln.ir.op.element.Full;
import io.kiln.ir.op.element.LeakyRelu;
import io.kiln.ir.op.element.Lookups.PairLookup;
import io.kiln.ir.op.element.Lookups.TflLookup;
import io.kiln.ir.op.element.Lookups.TflLookup16;
import io.kiln.ir.op.element.OnnxRequantize;
import io.kiln.ir.op.element.QnnAdd;
import io.kiln.ir.op.element.QnnBinary;
import io.kiln.ir.op.element.QnnDequantize;
import io.kiln.ir.op.element.QnnQuantize;
import io.kiln.ir.op.element.QnnRequantize;
import io.kiln.ir.op.element.Reinterpret;
import io.kiln.ir.op.element.TflAddN;
import io.kiln.ir.op.element.TflLeakyRelu;
import io.kiln.ir.op.element.TflRealRequantize;
import io.kiln.ir.op.element.TflRequantize;
import io.kiln.ir.op.element.TflSigmoid16;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.element.Where;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.BlockDense;
import io.kiln.ir.op.layer.Conv2d;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.layer.DetectionPostprocess;
import io.kiln.ir.op.layer.Lstm;
import io.kiln.ir.op.layer.MaxPool2d;
import io.kiln.ir.op.layer.OnnxLayers.OnnxAveragePool;
import io.kiln.ir.op.layer.OnnxLayers.OnnxResize2d;
import io.kiln.ir.op.layer.OnnxLayers.OnnxSoftmax;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.layer.QnnDense;
import io.kiln.ir.op.layer.Resize2d;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.ir.op.layer.Svdf;
import io.kiln.ir.op.layer.TflBatchMatmul;
import io.kiln.ir.op.layer.TflNormalize;
import io.kiln.ir.op.layer.TflSoftmax;
import io.kiln.ir.op.layer.TransposedConvolutions.Conv2dTranspose;
import io.kiln.ir.op.layer.TransposedConvolutions.QnnConv2dTranspose;
import io.kiln.ir.op.layer.TreeEnsemble;
import io.kiln.ir.op.movement.BroadcastTo;
import io.kiln.ir.op.movement.Concatenate;
import io.kiln.ir.op.movement.Copy;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.op.movement.Take;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.op.movement.Updates.ScatterNd;
import io.kiln.ir.op.movement.Updates.TflDynamicUpdateSlice;
import io.kiln.ir.op.reduce.ArgReduce;
import io.kiln.ir.op.reduce.QuantizedReductions.TflProduct;
import io.kiln.ir.op.reduce.QuantizedReductions.TflSum;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.op.reduce.TflCumsum;
import io.kiln.ir.op.reduce.Topk;
import io.kiln.ir.op.signal.FilterBankOperators.FilterBankAccumulate;
import io.kiln.ir.op.signal.FilterBankOperators.FilterBankGainControl;
import io.kiln.ir.op.signal.FilterBankOperators.FilterBankLog;
import io.kiln.ir.op.signal.FilterBankOperators.FilterBankSpectralSubtraction;
import io.kiln.ir.op.signal.FilterBankOperators.FilterBankSquareRoot;
import io.kiln.ir.op.signal.SignalOperators.SignalAutoScale;
import io.kiln.ir.op.signal.SignalOperators.SignalDelay;
import io.kiln.ir.op.signal.SignalOperators.SignalEnergy;
import io.kiln.ir.op.signal.SignalOperators.SignalFft;
import io.kiln.ir.op.signal.SignalOperators.SignalFrame;
import io.kiln.ir.op.signal.SignalOperators.SignalOverlapAdd;
import io.kiln.ir.op.signal.SignalOperators.SignalStack;
import io.kiln.ir.op.signal.SignalOperators.SignalWindow;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** The signatures of all operators. */
public final class Operators {
    private static final List<Signature<? extends Op>> SINGLE = List.of(
            Cast.SIGNATURE,
            Clip.SIGNATURE,
            FixedPointMultiply.SIGNATURE,
            Full.SIGNATURE,
            LeakyRelu.SIGNATURE,
            Reinterpret.SIGNATURE,
            OnnxRequantize.SIGNATURE,
            PairLookup.SIGNATURE,
            QnnAdd.SIGNATURE,
            QnnDequantize.SIGNATURE,
            QnnQuantize.SIGNATURE,
            QnnRequantize.SIGNATURE,
            TflAddN.SIGNATURE,
            TflLeakyRelu.SIGNATURE,
            TflLookup.SIGNATURE,
            TflLookup16.SIGNATURE,
            TflProduct.SIGNATURE,
            TflRealRequantize.SIGNATURE,
            TflRequantize.SIGNATURE,
            Where.SIGNATURE,
            AvgPool2d.SIGNATURE,
            BiasAdd.SIGNATURE,
            BlockDense.SIGNATURE,
            Conv2d.SIGNATURE,
            Conv2dTranspose.SIGNATURE,
            Dense.SIGNATURE,
            DetectionPostprocess.SIGNATURE,
            Lstm.SIGNATURE,
            MaxPool2d.SIGNATURE,
            OnnxAveragePool.SIGNATURE,
            OnnxResize2d.SIGNATURE,
            OnnxSoftmax.SIGNATURE,
            QnnConv2d.SIGNATURE,
            QnnConv2dTranspose.SIGNATURE,
            QnnDense.SIGNATURE,
            Resize2d.SIGNATURE,
            Softmax.SIGNATURE,
            Svdf.SIGNATURE,
            TflBatchMatmul.SIGNATURE,
            TflSoftmax.SIGNATURE,
            TreeEnsemble.SIGNATURE,
            BroadcastTo.SIGNATURE,
            Concatenate.SIGNATURE,
            Copy.SIGNATURE,
            Pad.SIGNATURE,
            Reshape.SIGNATURE,
            ScatterNd.SIGNATURE,
            StridedSlice.SIGNATURE,
            Take.SIGNATURE,
            TflDynamicUpdateSlice.SIGNATURE,
            Transpose.SIGNATURE,
            TflCumsum.SIGNATURE,
            TflSum.SIGNATURE,
            Topk.SIGNATURE,
            FilterBankAccumulate.SIGNATURE,
            FilterBankGainControl.SIGNATURE,
            FilterBankLog.SIGNATURE,
            FilterBankSpectralSubtraction.SIGNATURE,
            FilterBankSquareRoot.SIGNATURE,
            SignalAutoScale.SIGNATURE,
            SignalDelay.SIGNATURE,
            SignalEnergy.SIGNATURE,
            SignalFrame.SIGNATURE,
            SignalOverlapAdd.SIGNATURE,
            SignalStack.SIGNATURE,
            SignalWindow.SIGNATURE,
            CircularBuffer.SIGNATURE,
            RingWrite.SIGNATURE,
            CustomCall.SIGNATURE,
            EthosU.SIGNATURE,
            EthosUTensor.SIGNATURE,
            If.SIGNATURE,
            RefWrite.SIGNATURE,
            While.SIGNATURE);

    /** In order of names. */
    public static final List<Signature<? extends Op>> ALL = Stream.concat(
                    SINGLE.stream(),
                    Stream.of(
                                    Binary.SIGNATURES.values(),
                                    QnnBinary.SIGNATURES.values(),
                                    TflSigmoid16.SIGNATURES.values(),
                                    Unary.SIGNATURES.values(),
                                    TflNormalize.SIGNATURES.values(),
                                    ArgReduce.SIGNATURES,
                                    Reduce.SIGNATURES.values(),
                                    SignalFft.SIGNATURES)
                            .flatMap(Collection::stream))
            .sorted(Comparator.comparing(Signature::name))
            .toList();

    private Operators() {}
}
