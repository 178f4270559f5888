/* SPDX-License-Identifier: Apache-2.0 */
/*!
 * \file kiln/tensor.h
 * \brief What a program knows of a model's inputs and outputs, and conversions between real numbers and quantized elements. Nothing here
 * needs a library: floats are rounded by conversions, and the functions for Q16.16 compute in integers.
 */
#ifndef KILN_TENSOR_H_
#define KILN_TENSOR_H_

#include <dlpack/dlpack.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*! \brief An input or output. */
struct kiln_tensor {
  /*! \brief name in the model file */
  const char* name;
  /*! \brief element type */
  DLDataType dtype;
  /*! \brief number of dimensions */
  int32_t rank;
  /*! \brief sizes of the dimensions; NULL for a scalar */
  const int32_t* shape;
  /*! \brief number of elements */
  uint32_t elements;
  /*! \brief size in bytes */
  uint32_t bytes;
  /*! \brief real number of a step of the elements; 0 if they are not quantized */
  float scale;
  /*! \brief element that stands for 0 */
  int32_t zero_point;
};

/*! \brief Rounds to the nearest whole number, halves away from zero; the magnitude must be below 2^30. */
static inline int32_t kiln_round(float value) {
  int32_t whole = (int32_t)value;
  float rest = value - (float)whole;
  if (rest >= 0.5f) {
    return whole + 1;
  }
  return rest <= -0.5f ? whole - 1 : whole;
}

/*! \brief The number within limits. */
static inline int32_t kiln_clamp(int64_t value, int32_t least, int32_t most) {
  return value < least ? least : value > most ? most : (int32_t)value;
}

/*!
 * \brief The element that stands for a real number: value / scale + zero_point, rounded as TensorFlow Lite does; NaN gives the least one.
 * Elements are of at most 16 bits.
 */
static inline int32_t kiln_quantize(float value, float scale, int32_t zero_point, int32_t least, int32_t most) {
  float steps = value / scale;
  if (!(steps > -65536.0f)) {
    return least;
  }
  if (steps > 65536.0f) {
    return most;
  }
  return kiln_clamp((int64_t)zero_point + kiln_round(steps), least, most);
}

/*! \brief The real number that an element stands for. */
static inline float kiln_dequantize(int32_t element, float scale, int32_t zero_point) {
  return scale * (float)(element - zero_point);
}

/*! \brief value * multiplier / 2^shift, rounded to the nearest, halves up; shift is from 1 to 62. */
static inline int64_t kiln_rescale(int32_t value, int32_t multiplier, int32_t shift) {
  int64_t half = (int64_t)1 << (shift - 1);
  return ((int64_t)value * multiplier + half) >> shift;
}

#ifdef __cplusplus
}
#endif

#endif /* KILN_TENSOR_H_ */
