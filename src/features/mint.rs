//! To and from the types that mathematics libraries share.
//!
//! The parts of a transform convert by glam's own conversions. There is no transform among the shared
//! types, only its matrix.

use crate::{DTransform, DTransform2, Transform, Transform2, TransformError};
use glam::{Affine2, Affine3A, DAffine2, DAffine3, DMat3, DMat4, Mat3, Mat4};
use mint::{ColumnMatrix3, ColumnMatrix4, RowMatrix2x3, RowMatrix3, RowMatrix3x4, RowMatrix4};

macro_rules! matrices {
    ($($Transform:ident of $f:ty: $Affine:ident by $from:ident of $Matrix:ident, $Column:ident, $Row:ident, $Rows:ident $rows:tt $last:ident;)+) => {$(
        /// The matrix `T * R * S`.
        #[cfg_attr(docsrs, doc(cfg(feature = "mint")))]
        impl From<$Transform> for $Column<$f> {
            fn from(transform: $Transform) -> Self {
                $Matrix::from(transform).into()
            }
        }

        /// The matrix `T * R * S`, row by row.
        #[cfg_attr(docsrs, doc(cfg(feature = "mint")))]
        impl From<$Transform> for $Row<$f> {
            fn from(transform: $Transform) -> Self {
                $Matrix::from(transform).into()
            }
        }

        /// The matrix `T * R * S` without its last row: what a row of
        /// [`Worlds::rows`](crate::Worlds::rows) is where worlds are matrices.
        #[cfg_attr(docsrs, doc(cfg(feature = "mint")))]
        impl From<$Transform> for $Rows<$f> {
            fn from(transform: $Transform) -> Self {
                matrices!(@rows $Row::from(transform), $Row, $rows)
            }
        }

        /// Reads position, rotation and scale from a matrix, and refuses shear, as from glam's affine matrix.
        #[cfg_attr(docsrs, doc(cfg(feature = "mint")))]
        impl TryFrom<$Column<$f>> for $Transform {
            type Error = TransformError;

            /// # Errors
            ///
            /// `NotTrs` if the matrix shears, or if its last row is not that of the identity: a projection is no
            /// transform at all, and its residual is infinite; `NonFinite` if an element is not finite.
            fn try_from(matrix: $Column<$f>) -> Result<Self, TransformError> {
                let matrix = $Matrix::from(matrix);
                if !matrix.is_finite() {
                    return Err(TransformError::NonFinite);
                }
                let last = matrix.to_cols_array_2d().len() - 1;
                if matrix.row(last) != $Matrix::IDENTITY.row(last) {
                    return Err(TransformError::NotTrs { residual: f32::INFINITY });
                }
                Self::try_from($Affine::$from(matrix))
            }
        }

        /// As from columns.
        #[cfg_attr(docsrs, doc(cfg(feature = "mint")))]
        impl TryFrom<$Row<$f>> for $Transform {
            type Error = TransformError;

            fn try_from(matrix: $Row<$f>) -> Result<Self, TransformError> {
                $Column::from($Matrix::from(matrix)).try_into()
            }
        }

        /// As from columns; the last row is that of the identity.
        #[cfg_attr(docsrs, doc(cfg(feature = "mint")))]
        impl TryFrom<$Rows<$f>> for $Transform {
            type Error = TransformError;

            fn try_from(matrix: $Rows<$f>) -> Result<Self, TransformError> {
                matrices!(@whole matrix, $Row, $Matrix, $rows, $last).try_into()
            }
        }
    )+};
    (@whole $matrix:expr, $Row:ident, $Matrix:ident, { $($row:ident),+ }, $last:ident) => {
        $Row { $($row: $matrix.$row,)+ $last: $Row::from($Matrix::IDENTITY).$last }
    };
    (@rows $matrix:expr, $Row:ident, { $($row:ident),+ }) => {{
        let $Row { $($row,)+ .. } = $matrix;
        Self { $($row),+ }
    }};
}

matrices! {
    Transform of f32: Affine3A by from_mat4 of Mat4, ColumnMatrix4, RowMatrix4, RowMatrix3x4 { x, y, z } w;
    DTransform of f64: DAffine3 by from_mat4 of DMat4, ColumnMatrix4, RowMatrix4, RowMatrix3x4 { x, y, z } w;
    Transform2 of f32: Affine2 by from_mat3 of Mat3, ColumnMatrix3, RowMatrix3, RowMatrix2x3 { x, y } z;
    DTransform2 of f64: DAffine2 by from_mat3 of DMat3, ColumnMatrix3, RowMatrix3, RowMatrix2x3 { x, y } z;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Hierarchy, Matrices};
    use glam::{Quat, Vec3};

    fn sample() -> Transform {
        Transform::new(Vec3::new(1.0, 2.0, 3.0), Quat::from_xyzw(0.6, 0.0, 0.0, 0.8), Vec3::new(2.0, 3.0, 4.0))
    }

    #[test]
    fn elements_stand_where_they_belong() {
        let (t, columns) = (sample(), sample().to_mat4().to_cols_array_2d());
        let by_column: [[f32; 4]; 4] = ColumnMatrix4::from(t).into();
        assert_eq!(by_column, columns);
        let by_row: [[f32; 4]; 4] = RowMatrix4::from(t).into();
        let three: [[f32; 4]; 3] = RowMatrix3x4::from(t).into();
        for (i, row) in by_row.iter().enumerate() {
            assert_eq!(*row, columns.map(|column| column[i]));
            assert!(i == 3 || three[i] == *row);
        }
        let mut h = Hierarchy::new();
        let root = h.add_root(t).unwrap();
        let row: <Matrices as crate::Accumulate>::Row = h.update()[root];
        assert_eq!(three, row);
    }

    #[test]
    fn what_comes_back_is_what_went_in() {
        let t = sample();
        let back = Transform::try_from(ColumnMatrix4::from(t)).unwrap();
        assert!(back.position == t.position && back.scale.abs_diff_eq(t.scale, 1e-6));
        assert!(back.rotation.abs_diff_eq(t.rotation, 1e-6));
        assert_eq!(Transform::try_from(RowMatrix4::from(t)), Ok(back));
        assert_eq!(Transform::try_from(RowMatrix3x4::from(t)), Ok(back));
        let rotation: mint::Quaternion<f32> = t.rotation.into();
        assert_eq!((rotation.s, rotation.v.x), (0.8, 0.6));
        assert_eq!(t.with_rotation(rotation.into()), t);
    }

    #[test]
    fn the_plane_and_double_precision_do_the_same() {
        let t = crate::DTransform2::new(glam::DVec2::new(1.0, 2.0), 0.5, glam::DVec2::new(2.0, -3.0));
        let rows: [[f64; 3]; 2] = RowMatrix2x3::from(t).into();
        assert_eq!([rows[0][2], rows[1][2]], [1.0, 2.0]);
        let back = DTransform2::try_from(ColumnMatrix3::from(t)).unwrap();
        assert_eq!(DTransform2::try_from(RowMatrix2x3::from(t)), Ok(back));
        // Of a mirrored matrix X is the axis that is mirrored.
        assert!(glam::DAffine2::from(back).abs_diff_eq(t.into(), 1e-12));
        let mut projection = DMat3::IDENTITY;
        projection.x_axis.z = 0.5;
        assert!(DTransform2::try_from(RowMatrix3::from(projection)).is_err());
        let deep = sample().as_dtransform().normalized();
        let back = DTransform::try_from(RowMatrix4::from(deep)).unwrap();
        assert!(back.position == deep.position && back.scale.abs_diff_eq(deep.scale, 1e-12));
    }

    #[test]
    fn what_is_no_transform_is_refused() {
        let matrix = ColumnMatrix4::from(sample());
        for index in 0..16 {
            let mut elements: [f32; 16] = matrix.into();
            elements[index] = f32::NAN;
            assert_eq!(Transform::try_from(ColumnMatrix4::from(elements)), Err(TransformError::NonFinite));
        }
        let mut projection = Mat4::IDENTITY;
        projection.z_axis.w = -1.0;
        let refused = Transform::try_from(ColumnMatrix4::from(projection));
        assert_eq!(refused, Err(TransformError::NotTrs { residual: f32::INFINITY }));
        let mut sheared = Mat4::IDENTITY;
        sheared.y_axis.x = 0.5;
        let refused = Transform::try_from(RowMatrix4::from(sheared));
        assert!(matches!(refused, Err(TransformError::NotTrs { residual }) if (residual - 0.5).abs() < 1e-6));
    }
}
