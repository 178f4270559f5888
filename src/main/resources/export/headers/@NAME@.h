/* SPDX-License-Identifier: Apache-2.0
 * The models @MODELS@. Made by Kiln; this file is yours to use without conditions.
 */
#ifndef @MACRO@_H_
#define @MACRO@_H_
@INCLUDES@
#endif  // @MACRO@_H_
